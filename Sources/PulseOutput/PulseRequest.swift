import AudioCore
import CPulse
import LinuxSystem
import NowPlaying

/// A request to the server, until its answer.
///
/// Its address is the context of libpulse's callback. The connection owns the request until it is answered or
/// cancelled. A cancelled operation makes no callback, so the address is never used after its end.
@PlayerLoop final class PulseRequest {
    /// Part of a server's answer.
    enum Answer {
        case done(Bool)
        case server(PulseServerInfo)
        case sink(PulseSinkInfo)
        case sinkInput(PulseStreamInfo)
        case module(arguments: String)
    }

    /// Gets the parts of the answer, or the failure; called exactly once.
    typealias Completion = @PlayerLoop (Result<[Answer], OutputError>) -> Void

    /// Time at which libpulse got the request.
    let sent = EventLoop.now
    /// Time at which the wait ends; nil: never.
    private(set) var limit: MonotonicTime?
    /// True if the limit has passed once.
    private(set) var isLate = false
    /// True if other requests wait for its answer.
    let isUrgent: Bool
    /// The owner, whose end ends the request.
    private(set) weak var owner: AnyObject?
    private unowned let connection: PulseConnection
    private var operation: OpaquePointer?
    private var answers: [Answer] = []
    private var completion: Completion?

    /// A request that is not sent yet. `limit`: seconds to wait for the answer; nil: no limit.
    init(
        _ connection: PulseConnection, owner: AnyObject?, limit seconds: Double?, isUrgent: Bool,
        _ completion: @escaping Completion
    ) {
        self.isUrgent = isUrgent
        self.connection = connection
        self.owner = owner
        self.completion = completion
        limit = seconds.map { EventLoop.now.advanced(bySeconds: $0) }
    }

    /// Extends the wait: if this process was not running, the answer is already in the socket.
    func giveLastMoment(until time: MonotonicTime) {
        isLate = true
        limit = time
    }

    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// True while a completion waits for the answer.
    var isAwaited: Bool { completion != nil }

    /// Records libpulse's operation, until `release`.
    func began(_ operation: OpaquePointer) { self.operation = operation }

    /// Adds a part of the answer; more will follow.
    func received(_ answer: Answer) { answers.append(answer) }

    /// Completes the answer.
    func finished(_ last: Answer?) {
        if let last { answers.append(last) }
        connection.answered(self)
        complete(.success(answers))
    }

    /// Fails because the server refused, or libpulse stopped waiting.
    func failed(_ number: Int32) {
        if number == Int32(PA_ERR_TIMEOUT.rawValue) {
            connection.gaveUp(self)
            complete(.failure(.hung))
        } else {
            connection.answered(self)
            complete(.failure(OutputError(.refused, "the sound server refuses: \(pulseErrorText(number))")))
        }
    }

    /// Calls the completion once. An unanswered request still waits for its answer.
    func complete(_ result: Result<[Answer], OutputError>) {
        guard let completion else { return }
        self.completion = nil
        completion(result)
    }

    /// Releases libpulse's operation; `cancel`: also cancels it, so that no answer reaches us.
    func release(cancel: Bool) {
        guard let operation else { return }
        self.operation = nil
        if cancel { pa_operation_cancel(operation) }
        pa_operation_unref(operation)
    }
}

extension OutputError {
    /// Error for a server that accepted the connection but does not answer.
    static var hung: OutputError { OutputError(.serverHung, "the sound server does not answer") }
}

/// Properties of a server.
struct PulseServerInfo: Sendable, Equatable {
    var name: String
    var defaultSink: String

    var isPipeWire: Bool { name.holds("on PipeWire") }
}

/// Properties of a sink.
struct PulseSinkInfo: Sendable, Equatable {
    /// The sink's number at the server.
    var index: UInt32
    var name: String
    var description: String
    var driver: String
    /// Number of the module that made it; `UInt32.max`: none.
    var ownerModule: UInt32
    var state: OutputDevice.State
    /// Form factor: `headphone`, `speaker`, …; empty: unknown.
    var formFactor: String
    /// Kind of connection: `bluetooth`, `usb`, …; empty: unknown.
    var bus: String
    var format: AudioFormat?
    var exactBits: Int?
    var takesFloat = false
    var hasSoftwareVolume: Bool
    var mixer: MixerSetting
    /// Serial number of the device, or its port; empty: unknown.
    var serial: String
    /// Rate, format and channels of the device.
    var specification: String
    /// True if the sink is a device of this machine, not a virtual one or one of another machine.
    var isHardware: Bool

    /// Copies the properties from libpulse's structure.
    init(_ info: pa_sink_info) {
        index = info.index
        name = cleanText(info.name)
        description = cleanText(info.description)
        driver = cleanText(info.driver)
        ownerModule = info.owner_module
        state =
            switch info.state {
            case PA_SINK_RUNNING: .running
            case PA_SINK_SUSPENDED: .suspended
            default: .idle
            }
        formFactor = cleanText(pa_proplist_gets(info.proplist, PA_PROP_DEVICE_FORM_FACTOR))
        bus = cleanText(pa_proplist_gets(info.proplist, PA_PROP_DEVICE_BUS))
        format = AudioFormat(info.sample_spec, info.channel_map)
        switch info.sample_spec.format {
        case PA_SAMPLE_S16LE, PA_SAMPLE_S16BE: exactBits = 16
        case PA_SAMPLE_S24LE, PA_SAMPLE_S24BE, PA_SAMPLE_S24_32LE, PA_SAMPLE_S24_32BE: exactBits = 24
        case PA_SAMPLE_S32LE, PA_SAMPLE_S32BE: exactBits = 32
        case PA_SAMPLE_FLOAT32LE, PA_SAMPLE_FLOAT32BE: (exactBits, takesFloat) = (24, true)
        default: break
        }
        let own = cleanText(pa_proplist_gets(info.proplist, PA_PROP_DEVICE_SERIAL))
        serial = own.isEmpty ? cleanText(pa_proplist_gets(info.proplist, PA_PROP_DEVICE_BUS_PATH)) : own
        let sample = info.sample_spec
        specification = "\(sample.rate)/\(sample.format.rawValue)/\(sample.channels)"
        isHardware =
            info.flags.rawValue & PA_SINK_HARDWARE.rawValue != 0 && info.flags.rawValue & PA_SINK_NETWORK.rawValue == 0
        // A volume in the hardware changes no sample.
        let isInHardware = info.flags.rawValue & PA_SINK_HW_VOLUME_CTRL.rawValue != 0
        var volume = info.volume
        mixer = MixerSetting(
            volume: Double(pa_cvolume_max(&volume)) / Double(PA_VOLUME_NORM), isMuted: info.mute != 0)
        hasSoftwareVolume =
            info.mute != 0
            || (!isInHardware && pa_cvolume_channels_equal_to(&volume, UInt32(PA_VOLUME_NORM)) == 0)
    }

    /// Identity of the clock; nil: its skew is not stored. `all`: also identifies sinks without a clock of their own.
    func clock(isPipeWire: Bool, all: Bool) -> String? {
        guard all || isHardware && bus != "bluetooth" && !driver.holds("bluez") else { return nil }
        return [isPipeWire ? "pipewire" : "pulseaudio", driver, name, serial, specification].joined(separator: "|")
    }

    /// The device for the output's reports. `clock`: identity of its clock.
    func device(isDefault: Bool, clock: String? = nil) -> OutputDevice {
        OutputDevice(
            name: name, description: description, state: state, isDefault: isDefault, format: format,
            isWorn: bus == "bluetooth" || ["headphone", "headset", "hands-free"].contains(formFactor),
            exactBits: exactBits, takesFloat: takesFloat, hasSoftwareVolume: hasSoftwareVolume, clock: clock)
    }
}
