/// The bytes of queued frames by their numbers. It keeps no frames before `first`.
struct FrameStore {
    private let size: Int
    /// Number of the first kept frame.
    private(set) var first: Int64 = 0
    private var bytes: [UInt8] = []
    /// Bytes at the beginning that were taken.
    private var taken = 0

    /// An empty store of frames with this number of bytes.
    init(bytesPerFrame: Int) { size = bytesPerFrame }

    /// Number of kept frames.
    var count: Int { (bytes.count - taken) / size }

    /// Writes frames at a number, over the kept frames from there on. Frames before `first` are dropped; a gap becomes
    /// silence.
    mutating func write(_ frames: UnsafeRawBufferPointer, at frame: Int64) {
        let number = frames.count / size
        let skipped = Int(min(Int64(number), max(0, first - frame)))
        let offset = taken + Int(max(0, frame + Int64(skipped) - first)) * size
        if offset < bytes.count {
            bytes.removeSubrange(offset...)
        } else if offset > bytes.count {
            bytes.append(contentsOf: repeatElement(0, count: offset - bytes.count))
        }
        bytes.append(contentsOf: frames[(skipped * size)...])
    }

    /// Calls `use` with up to this many of the first kept frames.
    func withFirst<Result>(_ limit: Int, _ use: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { all in
            use(UnsafeRawBufferPointer(rebasing: all[taken..<(taken + min(limit, count) * size)]))
        }
    }

    /// Drops this many of the first kept frames.
    mutating func take(_ number: Int) {
        taken += number * size
        first += Int64(number)
        // Moving the rest costs its length, so this rarely moves it.
        if taken == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            taken = 0
        } else if taken > bytes.count / 2 {
            bytes.removeSubrange(..<taken)
            taken = 0
        }
    }

    /// Drops all frames; the next frame has this number.
    mutating func clear(next frame: Int64) {
        bytes.removeAll(keepingCapacity: true)
        taken = 0
        first = frame
    }

    /// Releases the memory.
    mutating func close() {
        bytes = []
        taken = 0
    }
}
