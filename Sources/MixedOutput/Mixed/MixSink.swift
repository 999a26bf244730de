package import AudioCore
package import LinuxSystem
package import NowPlaying

/// The end of a mixed output, which takes frames of one fixed format. All calls belong to the player's loop; nothing
/// here blocks.
@PlayerLoop package protocol MixSink: AnyObject {
    /// Receiver of the events; set before `connect`.
    var owner: (any MixSinkOwner)? { get set }
    var format: FixedFormat { get }
    /// The device for display.
    var device: OutputDevice { get }
    /// True from `sinkConnected` until `disconnect` or `sinkFailed`.
    var isConnected: Bool { get }
    /// True during an attempt to connect.
    var isConnecting: Bool { get }
    /// Seconds by which frames may be sent before they are due.
    var lead: Double { get }
    /// Seconds from the instant at which a frame is due until it is audible.
    var delay: Double { get }
    /// Seconds by which frames may be late before later frames get new times.
    var patience: Double { get }
    /// Number of frames that the other end takes at once; it rests between runs of whole chunks. 0: it takes any
    /// number.
    var chunk: Int { get }
    /// True if frames can be sent: the sink is connected, and not at rest.
    var isOpen: Bool { get }
    /// Seconds without a frame taken after which the other end counts as hung; 0: as soon as an untaken frame is due.
    var hangTime: Double { get }
    /// Bytes of this connection that the other end has not taken; nil: unknown.
    var untaken: Int? { get }
    /// Requests the times at which the other end takes frames, as they may differ from ours. `sinkTook` follows if it
    /// answers. `areNew`: it has kept our times since the last call, so its last answer says nothing about the present.
    func checkTimes(areNew: Bool)
    /// Ends the rest of a connected sink; `sinkOpened` or `sinkFailed` follows, never during the call.
    func open()
    /// Begins a rest: all sent frames are due, and none follow for now.
    func rest()
    /// Begins to connect; `sinkConnected` or `sinkFailed` follows, never during the call. A no-op while connecting or
    /// connected.
    func connect()
    /// Drops the connection without a report.
    func disconnect()
    /// Sends whole frames. Returns the bytes taken, also whole frames; `sinkTakesMore` follows if fewer than all were
    /// taken.
    func send(_ frames: UnsafeRawBufferPointer) -> Int
    /// Counts the connection as lost, since no frames are taken; sent frames stay. `sinkFailed` follows, never during
    /// the call.
    func stall()
    /// Calls `handler` whenever another attempt to connect makes sense, until the result is released.
    func watch(_ handler: @escaping @PlayerLoop () -> Void) -> AnyObject
}

/// Defaults for a sink that never rests, and whose other end reports nothing.
extension MixSink {
    package var chunk: Int { 0 }
    package var hangTime: Double { 0 }
    package var untaken: Int? { nil }
    package func checkTimes(areNew: Bool) {}
    package var isOpen: Bool { isConnected }
    package func open() {}
    package func rest() {}
    /// The engine's own attempts, with growing delays, are enough.
    package func watch(_ handler: @escaping @PlayerLoop () -> Void) -> AnyObject { NothingToWatch() }
}

private final class NothingToWatch {}

extension OutputDevice {
    /// The only device of a sink of this format. `description`: its name for people. `server`: the Snapcast server of its rooms.
    init(_ name: String, _ description: String, _ format: FixedFormat, server: SnapcastAddress? = nil) {
        self.init(
            name: name, description: description, state: .running, isDefault: true, format: format.audioFormat,
            exactBits: format.sample.bits ?? 24, takesFloat: format.sample == .float32, server: server)
    }
}

/// Answer of another end about its times.
package struct SinkTime {
    /// First frame of a chunk, counted since the connection was opened; nil: that of the chunk with the nearest time.
    package var frame: Int64?
    /// Instant at which it is taken.
    package var time: MonotonicTime
    /// Rate of the other end's clock relative to ours, minus 1.
    package var skew = 0.0
    /// Seconds by which the instant may be wrong.
    package var error = 0.0

    /// An answer by its parts.
    package init(frame: Int64?, time: MonotonicTime, skew: Double = 0, error: Double = 0) {
        self.frame = frame
        self.time = time
        self.skew = skew
        self.error = error
    }
}

/// Meaning of an answer about the times of the other end.
package enum SinkAnswer {
    /// It says nothing about the present.
    case old
    /// Its times equal ours.
    case same
    /// Its times differed from ours.
    case other
}

/// Receiver of a sink's events. Called on the player's loop, never from inside a call of `MixSink`.
@PlayerLoop package protocol MixSinkOwner: AnyObject {
    /// The sink is connected.
    func sinkConnected()
    /// A rest has ended: the next frame is due when it is sent.
    func sinkOpened()
    /// The attempt failed, or the connection was lost.
    func sinkFailed(_ error: OutputError)
    /// The other end takes a chunk at an instant.
    func sinkTook(_ answer: SinkTime) -> SinkAnswer
    /// The device is known better: its uncertainty, for example.
    func sinkDeviceChanged()
    /// The other end takes frames again.
    func sinkTakesMore()
}
