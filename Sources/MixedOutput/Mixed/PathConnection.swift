import AudioCore
import LinuxSystem
import NowPlaying

/// The connection of a sink to a path of this machine: its phase, and the log of its failures.
@PlayerLoop final class PathConnection {
    /// Phase of a connection.
    enum Phase { case apart, connecting, connected }

    private(set) var phase = Phase.apart
    let path: String
    private let loop: EventLoop

    /// A connection to this path, not started.
    init(_ loop: EventLoop, path: String) {
        self.loop = loop
        self.path = path
    }

    /// The path without control characters, for messages.
    var shown: String { cleanText(path) }

    /// The device of a sink of this kind and format.
    func device(_ kind: String, _ format: FixedFormat) -> OutputDevice { OutputDevice(kind, "Into \(shown)", format) }

    /// Begins to connect: calls `attempt` in a later turn of the loop. A no-op while connecting or connected.
    func begin(_ attempt: @escaping @PlayerLoop () -> Void) {
        guard phase == .apart else { return }
        phase = .connecting
        loop.later { [self] in if phase == .connecting { attempt() } }
    }

    /// Marks the attempt as a success.
    func complete() { phase = .connected }

    /// Ends the connection or the attempt without a report.
    func end() { phase = .apart }

    /// Ends the connection or the attempt, with a warning in the log.
    func fail(_ error: OutputError) {
        phase = .apart
        Log.warning(error.message, LogFields(.outputFailed), oncePerMinute: error.message, now: EventLoop.now)
    }
}
