package import AudioCore
package import LinuxSystem
package import NowPlaying

/// The end of a mixed output: takes frames of one fixed format. All of it belongs to the player's loop; nothing here blocks.
@PlayerLoop package protocol MixSink: AnyObject {
    /// Hears of the connection; set before `connect`.
    var owner: (any MixSinkOwner)? { get set }
    var format: FixedFormat { get }
    /// The device as it is shown.
    var device: OutputDevice { get }
    /// True from `sinkConnected` until `disconnect` or `sinkFailed`.
    var isConnected: Bool { get }
    /// True during an attempt to connect.
    var isConnecting: Bool { get }
    /// Seconds by which frames may be sent before they are due.
    var lead: Double { get }
    /// Seconds from the instant at which a frame is due to its being heard.
    var delay: Double { get }
    /// Seconds by which frames may come late without another time of those after them.
    var patience: Double { get }
    /// Frames that the other end takes at once; it rests between runs of whole chunks. 0: it takes any number.
    var chunk: Int { get }
    /// True if frames can be sent: connected, and not at rest.
    var isOpen: Bool { get }
    /// Seconds without a frame taken after which the other end hangs; 0: once a frame that it did not take is due.
    var hangTime: Double { get }
    /// Bytes of this connection that the other end has not taken; nil: unknown.
    var untaken: Int? { get }
    /// Asks the other end for the times at which it takes frames, as they may be others than ours. `sinkTook` follows if it
    /// answers. `areNew`: it kept our times since the last call, so its last answer says nothing about now.
    func checkTimes(areNew: Bool)
    /// Ends the rest of a connected sink; `sinkOpened` or `sinkFailed` follows, never during the call.
    func open()
    /// Begins a rest: all frames were sent and are due, and none follow for now.
    func rest()
    /// Begins to connect; `sinkConnected` or `sinkFailed` follows, never during the call. A no-op while connecting or
    /// connected.
    func connect()
    /// Gives up the connection, silently.
    func disconnect()
    /// Sends whole frames. Returns the number of bytes that were taken, also whole frames; `sinkTakesMore` follows if it is
    /// less than all.
    func send(_ frames: UnsafeRawBufferPointer) -> Int
    /// Counts the connection as lost, since nothing is taken; what was sent stays. `sinkFailed` follows, never during the call.
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

/// Value of an answer of another end about its times.
package enum SinkAnswer {
    /// It says nothing about now.
    case old
    /// Its times are ours.
    case same
    /// Our times were others.
    case other
}

/// Hears of a sink. Called on the player's loop, never from inside a call of `MixSink`.
@PlayerLoop package protocol MixSinkOwner: AnyObject {
    /// The connection is there.
    func sinkConnected()
    /// A rest is over: the next frame is due when it is sent.
    func sinkOpened()
    /// The attempt failed, or the connection was lost.
    func sinkFailed(_ error: OutputError)
    /// The other end takes a chunk at this instant. `frame`: its first frame, counted since the connection was opened; nil:
    /// that of the chunk whose time is next to this one.
    func sinkTook(_ frame: Int64?, at time: MonotonicTime) -> SinkAnswer
    /// Frames are taken again.
    func sinkTakesMore()
}
