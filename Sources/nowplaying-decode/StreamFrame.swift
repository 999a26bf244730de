/// Frame numbers from a stream's times: any number, in a file that lies.
enum StreamFrame {
    /// Frames on either side of the beginning, at most. Sums of a few of these do not overflow.
    private static let limit: Int64 = 1 << 60

    /// A number of frames as a length; nil: none that can be counted with.
    static func length(_ frames: Int64?) -> Int64? { frames.flatMap { (0...limit).contains($0) ? $0 : nil } }

    /// The frame, or the nearest that can be counted with.
    static func bounded(_ frame: Int64) -> Int64 { max(-limit, min(frame, limit)) }
}
