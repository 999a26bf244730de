import AudioCore
import AudioDecoders
import ControlProtocol
import ControlServer
import DaemonConfiguration
import LinuxSystem
import NowPlaying
import PlaybackEngine
import StateKeeping

/// Volume and devices.
extension PlayerMethods {
    /// `volume.set`: answers with what is wished, which a fade reaches later.
    func volume(_ request: MethodRequest) -> MethodResult {
        var target = request.double("volume")
        if let step = request.double("step") {
            // Steps over time add up; a step at once begins with the audible volume.
            let base = request.double("over") == nil ? player.volumeLevel : fade?.target ?? player.volumeLevel
            target = max(0, min(1, base + step))
        }
        fade = nil
        if let target, let seconds = request.double("over"), seconds > 0 {
            player.setVolume(nil, muted: request.bool("muted"), by: request.client.originator)
            fade = VolumeFade(loop, from: player.volumeLevel, to: target, over: seconds) {
                [unowned self] volume, isLast in
                player.fadeVolume(volume, isLast: isLast, by: request.client.originator)
                if isLast { fade = nil }
            }
        } else {
            player.setVolume(target, muted: request.bool("muted"), by: request.client.originator)
        }
        return .success(["volume": .number(target ?? player.state.volume), "muted": .bool(player.state.muted)])
    }

    /// Result of `formats.list`.
    static var formats: JSONValue {
        let formats = FormatSupport.all.map { format in
            JSONValue.object(
                JSONObject([
                    JSONObject.Member("name", .string(format.name)),
                    JSONObject.Member("endings", .array(format.endings.map { .string($0) })),
                    JSONObject.Member("plays", .bool(format.plays)),
                    JSONObject.Member("package", .string(format.package)),
                ]))
        }
        return ["formats": .array(formats)]
    }

    /// `loudness.set`: answers with what applies from now on.
    func loudness(_ request: MethodRequest) -> MethodResult {
        player.setLoudness(
            request.string("mode").flatMap(LoudnessMode.init), preamp: request.double("preamp"),
            by: request.client.originator)
        var writer = JSONWriter()
        StateEncoder.loudness(&writer, player.state.loudness)
        return .encoded(writer.bytes)
    }

    /// `crossfade.set`: answers with what applies from now on.
    func crossfade(_ request: MethodRequest) -> MethodResult {
        player.setCrossfade(
            CrossfadeSettings(seconds: request.double("seconds") ?? 0), by: request.client.originator)
        var writer = JSONWriter()
        StateEncoder.crossfade(&writer, player.state.crossfade)
        return .encoded(writer.bytes)
    }

    /// `fade.set`: answers with what applies from now on.
    func fades(_ request: MethodRequest) -> MethodResult {
        var settings = player.state.fades
        settings.fadeIn = request.double("fadeIn") ?? settings.fadeIn
        settings.fadeOut = request.double("fadeOut") ?? settings.fadeOut
        player.setFades(settings, by: request.client.originator)
        return .success(["fadeIn": .number(settings.fadeIn), "fadeOut": .number(settings.fadeOut)])
    }

    /// `sleep.set`: sets or cancels the timer, and answers with the timer.
    func sleep(_ request: MethodRequest) -> MethodResult {
        let fade = request.double("fade") ?? 0
        if request.string("endOf") != nil {
            player.setSleep(.endOfItem, fade: fade, by: request.client.originator)
        } else if let after = request.double("after"), after > 0 {
            player.setSleep(.at(EventLoop.now.advanced(bySeconds: after)), fade: fade, by: request.client.originator)
        } else {
            player.setSleep(nil, fade: 0, by: request.client.originator)
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.nullable("sleep", player.state.sleep, StateEncoder.sleep)
        writer.endObject()
        return .encoded(writer.bytes)
    }

    func listOutputs(_ answer: @escaping Answer) {
        output.listDevices { result in
            switch result {
            case .failure(let error): answer(.failure(.deviceNotFound(error.message)))
            case .success(let devices):
                let delays = self.player.outputDelays
                let list = devices.map { Self.describe($0, delay: delays.delay(of: $0.device.name)) }
                answer(.success(["outputs": .array(list)]))
            }
        }
    }

    private static func describe(_ listed: ListedOutput, delay: Double) -> JSONValue {
        let device = listed.device
        var members = [
            JSONObject.Member("name", .string(device.name)),
            JSONObject.Member("description", .string(device.description)),
            JSONObject.Member("state", .string(device.state.rawValue)),
            JSONObject.Member("default", .bool(device.isDefault)),
            JSONObject.Member("delay", .number(delay)),
        ]
        if let format = device.format {
            members.append(JSONObject.Member("sampleRate", .integer(Int64(format.sampleRate))))
            members.append(JSONObject.Member("channels", .integer(Int64(format.channels.count))))
        }
        if let mixer = listed.mixer {
            members.append(JSONObject.Member("volume", .number((mixer.volume * 1000).rounded() / 1000)))
            members.append(JSONObject.Member("muted", .bool(mixer.isMuted)))
        }
        return .object(JSONObject(members))
    }

    /// `output.delay.set`: of an output that the server knows at this moment, or that has a delay.
    func setOutputDelay(_ request: MethodRequest, _ answer: @escaping Answer) {
        let name = request.string("name") ?? ""
        let delay = request.double("delay") ?? 0
        let delays = player.outputDelays
        let set: @PlayerLoop () -> Void = { [self] in
            guard delays.set(delay, of: name) else {
                return answer(
                    .failure(.commandFailed(.tooMany, "\(OutputDelays.limit) outputs have a delay already")))
            }
            store?.keep(delays: delays.kept)
            player.outputDelaysChanged(by: request.client.originator)
            answer(.success(["name": .string(name), "delay": .number(delay)]))
        }
        if delays.kept[name] != nil { return set() }
        output.listDevices { result in
            switch result {
            case .failure(let error): answer(.failure(.deviceNotFound(error.message)))
            case .success(let devices):
                guard devices.contains(where: { $0.device.name == name }) else {
                    return answer(.failure(.deviceNotFound(Self.unknownOutput)))
                }
                set()
            }
        }
    }

    /// Follows a change of outputs that the session `main` has made.
    func followOutput(_ request: MethodRequest) {
        guard request.method == .other(.outputSelect), let name = request.string("name") else {
            return player.outputDelaysChanged(by: request.client.originator)
        }
        output.selectDevice(named: name)
        player.outputSelected(name)
    }

    private static let unknownOutput = "there is no output with this name; output.list lists the outputs"

    /// Takes only what the server knows at this moment.
    func selectOutput(_ request: MethodRequest, _ answer: @escaping Answer) {
        let name = request.string("name") ?? ""
        output.listDevices { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let error): answer(.failure(.deviceNotFound(error.message)))
            case .success(let devices):
                guard devices.contains(where: { $0.device.name == name }) else {
                    return answer(.failure(.deviceNotFound(Self.unknownOutput)))
                }
                output.selectDevice(named: name)
                player.outputSelected(name)
                hasChosenOutput = name != configuration.sink
                answer(.success(["name": .string(name)]))
            }
        }
    }
}

/// A volume on its way: one-shot steps until it is there.
@PlayerLoop final class VolumeFade {
    /// The volume that it ends with, 0 to 1.
    let target: Double
    private static let stepSeconds = 0.05
    private let start: Double
    private let began = EventLoop.now
    private let seconds: Double
    private let apply: @PlayerLoop (_ volume: Double, _ isLast: Bool) -> Void
    private var next: EventSource?

    /// Goes from one volume to another in so many seconds, in even steps of the server's scale; `apply` is called for each.
    init(
        _ loop: EventLoop, from start: Double, to target: Double, over seconds: Double,
        _ apply: @escaping @PlayerLoop (_ volume: Double, _ isLast: Bool) -> Void
    ) {
        self.start = start
        self.target = target
        self.seconds = seconds
        self.apply = apply
        next = loop.deadline(began.advanced(bySeconds: Self.stepSeconds)) { [unowned self] in step() }
    }

    private func step() {
        let now = EventLoop.now
        let part = min(1, now.seconds(since: began) / seconds)
        if part < 1 { next?.setDeadline(now.advanced(bySeconds: Self.stepSeconds)) }
        apply(start + (target - start) * part, part == 1)
    }
}
