import LinuxSystem
import MPDProtocol
import NowPlaying

/// The answer to `status` while only the position changes: many clients request it each second.
struct StatusLines {
    /// The values on which the lines depend.
    struct Key: Equatable {
        private let changes: [Int64]
        private let mixRamp: [UInt64]
        private let lastLoaded: String
        private let job: Int?

        /// A key of these counts of changes, settings, and the number of the running update.
        init(changes: [Int64], _ mixRamp: MixRamp, lastLoaded: String, job: Int?) {
            self.changes = changes
            // The key has the bits of the values: “off” is NaN, which equals nothing.
            self.mixRamp = [mixRamp.level.bitPattern, mixRamp.delay.bitPattern]
            self.lastLoaded = lastLoaded
            self.job = job
        }
    }

    /// The position of the item.
    struct Position {
        /// Nil: the position is 0.
        let anchor: PlaybackAnchor?
        /// Seconds; nil: unknown.
        let duration: Double?
    }

    let key: Key
    private let head: [UInt8]
    private let tail: [UInt8]
    private let position: Position?
    /// The whole seconds of the duration.
    private let total: String

    /// The lines before and after the position. `position`: nil if playback is stopped.
    init(
        _ key: Key, position: Position?, _ head: (inout AnswerWriter) -> Void, _ tail: (inout AnswerWriter) -> Void
    ) {
        self.key = key
        self.position = position
        total = String(Int64(clamping: (position?.duration ?? 0).rounded()))
        var writer = AnswerWriter()
        head(&writer)
        self.head = writer.take()
        tail(&writer)
        self.tail = writer.take()
    }

    /// Writes all lines, with the position at this instant.
    func write(_ writer: inout AnswerWriter, at now: MonotonicTime) {
        writer.append(head)
        if let position {
            let elapsed = position.anchor?.position(at: now, duration: position.duration) ?? 0
            // Old clients read the duration only from this line.
            writer.pair("time", "\(Int64(clamping: elapsed.rounded())):\(total)")
            writer.pair("elapsed", seconds: elapsed)
        }
        writer.append(tail)
    }
}
