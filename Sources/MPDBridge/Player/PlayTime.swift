import LinuxSystem
import NowPlaying

/// Total time of playback.
struct PlayTime: Sendable {
    private var before = 0.0
    private var begin: MonotonicTime?

    /// A time of 0.
    init() {}

    /// Records that playback continues, begins or ends now.
    mutating func follow(isPlaying: Bool) {
        let now = EventLoop.now
        if let begin { before += now.seconds(since: begin) }
        begin = isPlaying ? now : nil
    }

    /// Seconds until now.
    var seconds: Double { before + (begin.map { EventLoop.now.seconds(since: $0) } ?? 0) }
}
