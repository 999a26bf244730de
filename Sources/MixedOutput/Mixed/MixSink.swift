package import AudioCore
package import LinuxSystem
import NowPlaying

/// The end of a mixed output: takes frames of one fixed format. All of it belongs to the player's loop; nothing here blocks.
@PlayerLoop package protocol MixSink: AnyObject {
    /// Hears of the connection; set before `connect`.
    var owner: (any MixSinkOwner)? { get set }
    var format: FixedFormat { get }
    /// The device as it is shown.
    var device: OutputDevice { get }
    /// True if frames can be sent.
    var isConnected: Bool { get }
    /// True during an attempt to connect.
    var isConnecting: Bool { get }
    /// Seconds by which frames may be sent before they are due.
    var lead: Double { get }
    /// Seconds from the instant at which a frame is due to its being heard.
    var delay: Double { get }
    /// Seconds by which frames may come late without another time of those after them.
    var patience: Double { get }
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

/// Hears of a sink. Called on the player's loop, never from inside a call of `MixSink`.
@PlayerLoop package protocol MixSinkOwner: AnyObject {
    /// The connection is there.
    func sinkConnected()
    /// The attempt failed, or the connection was lost.
    func sinkFailed(_ error: OutputError)
    /// Frames are taken again.
    func sinkTakesMore()
}
