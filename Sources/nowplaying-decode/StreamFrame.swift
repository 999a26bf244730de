/// Frame numbers from a stream's times, which can be any number in a hostile file.
enum StreamFrame {
    /// Maximum frames before and after the beginning. Sums of a few such numbers do not overflow.
    private static let limit: Int64 = 1 << 60

    /// A number of frames as a length; nil: it is out of range.
    static func length(_ frames: Int64?) -> Int64? { frames.flatMap { (0...limit).contains($0) ? $0 : nil } }

    /// The frame, limited to the range of valid numbers.
    static func bounded(_ frame: Int64) -> Int64 { max(-limit, min(frame, limit)) }
}
