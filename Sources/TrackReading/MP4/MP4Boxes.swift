/// The boxes of MP4 and QuickTime (ISO 14496-12 §4.2) in a range of a file.
struct MP4Boxes {
    /// A box, without its header.
    struct Box {
        /// The four letters of its type, the first one highest.
        let type: Int
        /// Offset of its content in the file.
        let start: Int64
        /// Offset after it.
        let end: Int64
    }

    private let window: FileWindow
    private var offset: Int64
    private let end: Int64

    /// The boxes from `start` to before `end`.
    init(_ window: FileWindow, from start: Int64, to end: Int64) {
        self.window = window
        offset = start
        self.end = min(end, window.size)
    }

    /// The boxes in another one, after `skipped` bytes.
    init(_ window: FileWindow, in box: Box, after skipped: Int64 = 0) {
        self.init(window, from: box.start + skipped, to: box.end)
    }

    /// The next box; nil: there is none, or its size is invalid.
    mutating func next() throws(TrackReadingError) -> Box? {
        guard offset + 8 <= end else { return nil }
        let header = try window.bytes(at: offset, count: 16)
        guard header.count >= 8 else { return nil }
        var start = offset + 8
        var length = Int64(header.big32(0))
        if length == 1 {
            length = header.big64(8)
            start += 8
        } else if length == 0 {
            length = end - offset
        }
        guard length >= start - offset else { return nil }
        let box = Box(type: header.big32(4), start: start, end: min(offset + length, end))
        offset += length
        return box
    }
}

extension MP4Boxes.Box {
    /// True if its type is these four letters; a `©` is written as `\u{A9}`, one byte.
    func isA(_ name: StaticString) -> Bool { type == Self.code(name) }

    /// The number of four letters.
    static func code(_ name: StaticString) -> Int {
        name.withUTF8Buffer { letters in
            // UTF-8 writes `©` with a byte that is not in the file.
            letters.reduce(0) { $1 == 0xC2 ? $0 : $0 << 8 | Int($1) }
        }
    }
}
