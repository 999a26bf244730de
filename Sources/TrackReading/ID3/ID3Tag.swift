/// An ID3v2 tag, version 2.2, 2.3 or 2.4 (id3.org). It reads texts and skips large contents.
struct ID3Tag {
    /// Fields so far.
    private(set) var set: TagSet
    /// Texts of the group frame, which name the work if a group or movement frame exists too.
    private var contentGroups: [String] = []
    private var hasMovement = false
    private let version: Int

    private static let maximumFrames = 2048
    /// Bytes of the content of a frame that is read, at most.
    private static let maximumContent = 32 << 10
    /// Bytes of a tag that is unsynchronised as a whole, at most.
    private static let maximumSynchronised = 512 << 10

    /// Bytes of the whole tag with this header; nil: it is not a header.
    static func length(_ header: ByteView) -> Int64? {
        guard header.count >= 10, header.has("ID3"), header[3] < 0xFF, header[4] < 0xFF,
            (6..<10).allSatisfy({ header[$0] < 128 })
        else { return nil }
        return 10 + Int64(header.safe32(6)) + (header[5] & 0x10 != 0 ? 10 : 0)
    }

    /// Reads the tag at `offset`; nil: there is none. Inconsistent parts are left out.
    init?(_ window: FileWindow, at offset: Int64) throws(TrackReadingError) {
        let header = try window.bytes(at: offset, count: 10)
        guard let length = Self.length(header) else { return nil }
        version = Int(header[3])
        set = TagSet(keepsComments: window.keepsComments)
        let flags = header[5]
        guard (2...4).contains(version), flags & 0x40 == 0 || version > 2 else { return }
        let end = offset + length - (flags & 0x10 != 0 && version == 4 ? 10 : 0)
        let body = FileStretch(window, from: offset + 10, to: end)
        // In 2.4 each frame has its own flag for unsynchronisation.
        if flags & 0x80 != 0, version < 4 {
            try readSynchronised(body, hasExtension: flags & 0x40 != 0)
        } else {
            try readFrames(body, hasExtension: flags & 0x40 != 0)
        }
        finish()
    }

    private mutating func readSynchronised(
        _ body: FileStretch, hasExtension: Bool
    ) throws(TrackReadingError) {
        var source = body
        var bytes: [UInt8] = []
        var last: UInt8 = 0
        while bytes.count < Self.maximumSynchronised {
            let part = try source.peek(FileWindow.bufferBytes)
            if part.isEmpty { break }
            for byte in part.buffer {
                if last != 0xFF || byte != 0 { bytes.append(byte) }
                last = byte
            }
            try source.skip(Int64(part.count))
        }
        try bytes.withUnsafeBufferPointer { (buffer) throws(TrackReadingError) in
            try readFrames(
                MemoryBytes(ByteView(buffer.baseAddress, count: buffer.count)), hasExtension: hasExtension)
        }
    }

    private mutating func readFrames<Source: ByteSource>(
        _ body: Source, hasExtension: Bool
    ) throws(TrackReadingError) {
        var source = body
        if hasExtension {
            let size = try source.peek(4)
            // The size counts the bytes after it in 2.3, and all bytes in 2.4, with 7 bits a byte.
            try source.skip(Int64(version == 3 ? 4 + size.big32(0) : max(4, size.safe32(0))))
        }
        let headerBytes = version == 2 ? 6 : 10
        for _ in 0..<Self.maximumFrames {
            let header = try source.peek(headerBytes)
            guard header.count == headerBytes, Self.isName(header, version == 2 ? 3 : 4) else { return }
            let code = version == 2 ? header.big24(0) : header.big32(0)
            let flags = version == 2 ? 0 : Int(header[9])
            let plain = version == 2 ? header.big24(3) : header.big32(4)
            let safe = header.safe32(4)
            let isPlain = version < 4 || (4..<8).contains { header[$0] > 127 }
            try source.skip(Int64(headerBytes))
            let size =
                isPlain || plain == safe
                ? plain : try leadsOn(source, safe) ? safe : try leadsOn(source, plain) ? plain : safe
            // Flags for compressed or encrypted frames: in 2.3 at the top of the second byte, in 2.4 in the middle.
            if let kind = ID3FrameNames.kind(code), flags & (version == 3 ? 0xC0 : 0x0C) == 0, size > 0 {
                try readFrame(kind, source, size: size, flags: flags)
            }
            try source.skip(Int64(size))
        }
    }

    /// True if another frame, padding or the end follows after `size` bytes: some programs (iTunes) wrote sizes of 2.4
    /// with 8 bits a byte.
    private func leadsOn<Source: ByteSource>(_ source: Source, _ size: Int) throws(TrackReadingError) -> Bool {
        var ahead = source
        try ahead.skip(Int64(size) - 1)
        let next = try ahead.peek(5)
        if next.count == 1 { return true }
        return next.count == 5 && (Self.isName(next.part(1), 4) || next.big32(1) == 0)
    }

    private static func isName(_ bytes: ByteView, _ count: Int) -> Bool {
        (0..<count).allSatisfy { (0x41...0x5A).contains(bytes[$0]) || (0x30...0x39).contains(bytes[$0]) }
    }

    private mutating func readFrame<Source: ByteSource>(
        _ kind: ID3FrameNames.Kind, _ source: Source, size: Int, flags: Int
    ) throws(TrackReadingError) {
        var source = source
        // A byte for the group; in 2.4 also four bytes for the length without unsynchronisation.
        let extra = (flags & (version == 3 ? 0x20 : 0x40) != 0 ? 1 : 0) + (version == 4 && flags & 1 != 0 ? 4 : 0)
        guard size > extra else { return }
        try source.skip(Int64(extra))
        let isLarge = if case .picture = kind { true } else if case .lyrics = kind { true } else { false }
        let content = try source.peek(min(size - extra, isLarge ? 128 : Self.maximumContent))
        if version == 4, flags & 2 != 0 {
            let bytes = Self.synchronised(content)
            bytes.withUnsafeBufferPointer { take(kind, ByteView($0.baseAddress, count: $0.count)) }
        } else {
            take(kind, content)
        }
    }

    private static func synchronised(_ content: ByteView) -> [UInt8] {
        var result: [UInt8] = []
        var last: UInt8 = 0
        for byte in content.buffer {
            if last != 0xFF || byte != 0 { result.append(byte) }
            last = byte
        }
        return result
    }

    private mutating func take(_ kind: ID3FrameNames.Kind, _ content: ByteView) {
        if case .contentGroup = kind {
            ID3Strings.forEach(content) { part in if let text = part.text { contentGroups.append(text) } }
            return
        }
        ID3Frames.take(kind, content, version: version, into: &set)
    }

    private mutating func finish() {
        let isWork = set.tags.has(.grouping) || set.tags.has(.movement)
        if !isWork || !set.tags.has(.work) {
            for group in contentGroups { set.add(isWork ? .work : .grouping, group) }
        }
        set.close()
    }
}

/// Bytes in memory.
struct MemoryBytes: ByteSource {
    private let bytes: ByteView
    private var index = 0

    /// These bytes.
    init(_ bytes: ByteView) { self.bytes = bytes }

    mutating func peek(_ count: Int) throws(TrackReadingError) -> ByteView { bytes.part(index, count) }

    mutating func skip(_ count: Int64) throws(TrackReadingError) {
        index = Int(min(Int64(bytes.count), Int64(index) + max(0, count)))
    }
}
