/// A page of an Ogg file (RFC 3533 §6), without its content.
struct OggPageHead {
    /// Offset of its content in the file.
    let bodyOffset: Int64
    /// Offset of the next page.
    let end: Int64
    /// 1: continues a packet of the previous page, 2: first page of its stream, 4: last page of it.
    let flags: UInt8
    /// Time of the last packet that ends on it, in units of its stream; -1: no packet ends on it.
    let granule: Int64
    /// Identity of its stream.
    let serial: Int
    /// Number of its pieces.
    let pieceCount: Int

    /// Bytes of a header before the lengths of its pieces.
    static let headerBytes = 27

    /// Reads the header at `offset`; nil: there is no page.
    init?(_ window: FileWindow, at offset: Int64) throws(TrackReadingError) {
        let bytes = try window.bytes(at: offset, count: Self.headerBytes + 255)
        self.init(bytes, at: offset)
    }

    /// Reads the header in these bytes.
    init?(_ bytes: ByteView, at offset: Int64) {
        pieceCount = Int(bytes[26])
        guard bytes.has("OggS"), bytes[4] == 0, bytes.count >= Self.headerBytes + pieceCount else { return nil }
        flags = bytes[5]
        let (low, high) = (UInt64(bytes.little32(6)), UInt64(bytes.little32(10)))
        granule = Int64(bitPattern: high << 32 | low)
        serial = bytes.little32(14)
        bodyOffset = offset + Int64(Self.headerBytes + pieceCount)
        var length = 0
        for index in 0..<pieceCount { length += Int(bytes[Self.headerBytes + index]) }
        end = bodyOffset + Int64(length)
    }
}

/// The packets of one stream of an Ogg file in their order, without a copy of a whole packet.
struct OggPackets: ByteSource {
    private let window: FileWindow
    private let serial: Int
    /// Offset of the page with the next bytes.
    private var pageOffset: Int64
    /// Offset of the page after it.
    private var nextPage: Int64
    /// The first piece of the next range on the page.
    private var pieceIndex = 0
    /// Offset of the next byte in the file, and the packet's remaining bytes on the page.
    private var offset: Int64 = 0
    private var left = 0
    /// True if the packet ends with these bytes.
    private var isLast = true

    private static let maximumPages = 4096

    /// The packets of this stream from the page at `offset` on.
    init(_ window: FileWindow, serial: Int, from offset: Int64) {
        self.window = window
        self.serial = serial
        pageOffset = offset
        nextPage = offset
    }

    /// Moves to the next packet; false: there is none.
    mutating func next() throws(TrackReadingError) -> Bool {
        while !isLast { if try !goOn() { return false } }
        return try goOn()
    }

    /// Moves to the next range of bytes of a packet; false: there is none.
    private mutating func goOn() throws(TrackReadingError) -> Bool {
        offset += Int64(left)
        left = 0
        for _ in 0..<Self.maximumPages {
            if nextPage > pageOffset, try takePiece() { return true }
            guard try turnPage() else {
                isLast = true
                return false
            }
        }
        return false
    }

    /// Moves to the next page of the stream; false: there is none.
    private mutating func turnPage() throws(TrackReadingError) -> Bool {
        for _ in 0..<Self.maximumPages {
            guard let page = try OggPageHead(window, at: nextPage) else { return false }
            let start = nextPage
            nextPage = page.end
            if page.serial != serial { continue }
            if page.flags & 2 != 0 { return false }
            pageOffset = start
            pieceIndex = 0
            offset = page.bodyOffset
            return true
        }
        return false
    }

    /// Takes the next pieces of the packet on the page; false: there are none left.
    private mutating func takePiece() throws(TrackReadingError) -> Bool {
        let header = try window.bytes(at: pageOffset, count: OggPageHead.headerBytes + 255)
        let count = Int(header[26])
        guard pieceIndex < count else { return false }
        isLast = false
        while pieceIndex < count, !isLast {
            let length = Int(header[OggPageHead.headerBytes + pieceIndex])
            left += length
            isLast = length < 255
            pieceIndex += 1
        }
        return true
    }

    mutating func peek(_ count: Int) throws(TrackReadingError) -> ByteView {
        if count <= left || isLast { return try window.bytes(at: offset, count: min(count, left)) }
        if left == 0, try goOn() { return try peek(count) }
        var ahead = self
        return try window.gather { (room) throws(TrackReadingError) in
            var done = 0
            while done < min(count, room.count) {
                if ahead.left == 0 {
                    if ahead.isLast { break }
                    guard try ahead.goOn() else { break }
                    continue
                }
                let part = try ahead.window.bytes(at: ahead.offset, count: min(count - done, ahead.left))
                if part.isEmpty { break }
                for index in 0..<min(part.count, room.count - done) { room[done + index] = part[index] }
                done += part.count
                try ahead.skip(Int64(part.count))
            }
            return done
        }
    }

    mutating func skip(_ count: Int64) throws(TrackReadingError) {
        var rest = max(0, count)
        while rest > 0 {
            let step = Int(min(rest, Int64(left)))
            offset += Int64(step)
            left -= step
            rest -= Int64(step)
            if rest == 0 || isLast { return }
            guard try goOn() else { return }
        }
    }
}
