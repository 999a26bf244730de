/// The book-keeping of a stream's queue as in a server: the written frames, the taken frames, and the requests.
///
/// For outputs without a server. Frames are counted over the stream's life.
struct StreamQueue: Equatable {
    /// Target length in frames.
    let target: Int64
    /// Minimum of a request, in frames.
    let refill: Int64
    /// Minimum of queued frames before sound begins.
    let prebuffer: Int64
    /// Next frame to take.
    private(set) var position: Int64 = 0
    /// Frame after the last one written. Below `position` after a rewrite of frames that were already taken.
    private(set) var end: Int64 = 0
    /// Requested frames that have not come yet.
    private var asked: Int64 = 0

    /// An empty queue; all lengths in frames.
    init(target: Int64, refill: Int64, prebuffer: Int64) {
        self.target = target
        self.refill = refill
        self.prebuffer = prebuffer
    }

    /// Number of frames that can be taken.
    var queued: Int64 { max(0, end - position) }

    /// Records frames written at `frame`, or after the last ones; returns the number of the first.
    mutating func write(_ count: Int64, at frame: Int64?) -> Int64 {
        let start = frame ?? end
        end = start + count
        asked = max(0, asked - count)
        return start
    }

    /// Records that all frames before this one were taken; limited to the written frames.
    mutating func take(upTo frame: Int64) { position = max(position, min(frame, end)) }

    /// Drops the queued frames; the next written frame is the next one to take.
    mutating func flush() {
        end = position
        asked = 0
    }

    /// Drops the outstanding request: the next one requests its frames again.
    mutating func forgetRequest() { asked = 0 }

    /// Frame that makes room for another request when it is taken.
    var nextRequest: Int64 { end + refill + asked - target }

    /// True if frames have to be requested now; if so, they count as requested.
    mutating func ask() -> Bool {
        let room = target - (end - position)
        guard room - asked >= refill else { return false }
        asked = room
        return true
    }
}
