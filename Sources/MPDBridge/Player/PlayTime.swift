import LinuxSystem
import NowPlaying

/// Time during which something played.
struct PlayTime: Sendable {
    private var before = 0.0
    private var begin: MonotonicTime?

    /// Nothing has played yet.
    init() {}

    /// Playback goes on, begins or ends now.
    mutating func follow(isPlaying: Bool) {
        let now = EventLoop.now
        if let begin { before += now.seconds(since: begin) }
        begin = isPlaying ? now : nil
    }

    /// Seconds until now.
    var seconds: Double { before + (begin.map { EventLoop.now.seconds(since: $0) } ?? 0) }
}
