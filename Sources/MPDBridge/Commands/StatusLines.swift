import LinuxSystem
import MPDProtocol
import NowPlaying

/// The answer to `status` while nothing changes but the position: many clients ask for it each second.
struct StatusLines {
    /// The reasons for which lines are other ones.
    struct Key: Equatable {
        private let changes: [Int64]
        private let mixRamp: [UInt64]
        private let lastLoaded: String
        private let job: Int?

        /// A key of these counts of changes, settings, and the number of the update that runs.
        init(changes: [Int64], _ mixRamp: MixRamp, lastLoaded: String, job: Int?) {
            self.changes = changes
            // The bits: off is not a number.
            self.mixRamp = [mixRamp.level.bitPattern, mixRamp.delay.bitPattern]
            self.lastLoaded = lastLoaded
            self.job = job
        }
    }

    /// The position of the item.
    struct Position {
        /// Nil: it begins.
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

    /// The lines before the position and behind it. `position`: nil where playback is stopped.
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
            // Old clients take the duration from here alone.
            writer.pair("time", "\(Int64(clamping: elapsed.rounded())):\(total)")
            writer.pair("elapsed", seconds: elapsed)
        }
        writer.append(tail)
    }
}
