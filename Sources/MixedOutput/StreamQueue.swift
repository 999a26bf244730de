/// The book-keeping of a stream's queue as a server does it: what is written, what was taken, when to ask for more.
///
/// For the outputs that have no server. Frames are counted over the stream's life.
struct StreamQueue: Equatable {
    /// Frames that are kept there.
    let target: Int64
    /// Least part that is asked for at once, in frames.
    let refill: Int64
    /// Frames that must be there before sound begins.
    let prebuffer: Int64
    /// Next frame to be taken.
    private(set) var position: Int64 = 0
    /// Frame after the last one written. Below `position` after a rewrite of what was taken already.
    private(set) var end: Int64 = 0
    /// Frames asked for that have not come yet.
    private var asked: Int64 = 0

    /// An empty queue; all lengths in frames.
    init(target: Int64, refill: Int64, prebuffer: Int64) {
        self.target = target
        self.refill = refill
        self.prebuffer = prebuffer
    }

    /// Frames that are there to be taken.
    var queued: Int64 { max(0, end - position) }

    /// Takes note of frames written at `frame`, or after the last ones; returns where they begin.
    mutating func write(_ count: Int64, at frame: Int64?) -> Int64 {
        let start = frame ?? end
        end = start + count
        asked = max(0, asked - count)
        return start
    }

    /// Takes note that everything before this frame was taken; no more than there is.
    mutating func take(upTo frame: Int64) { position = max(position, min(frame, end)) }

    /// Throws away what is queued; the next frame written is the next one taken.
    mutating func flush() {
        end = position
        asked = 0
    }

    /// Forgets the frames that were asked for: the next question asks for them again.
    mutating func forgetRequest() { asked = 0 }

    /// Frame whose taking makes room for another request.
    var nextRequest: Int64 { end + refill + asked - target }

    /// True if frames have to be requested now; if so, they count as requested.
    mutating func ask() -> Bool {
        let room = target - (end - position)
        guard room - asked >= refill else { return false }
        asked = room
        return true
    }
}
