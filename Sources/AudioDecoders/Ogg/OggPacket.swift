import AudioCore

/// A packet of an Ogg stream as pieces of the file: a reader of its head does not load 50 MB of comments.
struct OggPacket {
    private struct Piece {
        /// Offset in the packet.
        let position: Int64
        let offset: Int64
        let count: Int
    }

    private var pieces: [Piece] = []
    /// Bytes of the packet.
    private(set) var length: Int64 = 0

    /// Appends bytes of the file.
    mutating func append(offset: Int64, count: Int) {
        if count == 0 { return }
        // Pieces of one page are adjacent: they form one piece.
        if let last = pieces.last, last.offset + Int64(last.count) == offset {
            pieces[pieces.count - 1] = Piece(
                position: last.position, offset: last.offset, count: last.count + count)
            length += Int64(count)
            return
        }
        pieces.append(Piece(position: length, offset: offset, count: count))
        length += Int64(count)
    }

    /// Up to `count` bytes from `position` on. Throws read errors.
    func bytes(in file: MediaFile, at position: Int64, count: Int) throws(DecodingError) -> [UInt8] {
        var low = 0
        var high = pieces.count
        while low < high {
            let middle = (low + high) / 2
            if pieces[middle].position + Int64(pieces[middle].count) <= position {
                low = middle + 1
            } else {
                high = middle
            }
        }
        var result: [UInt8] = []
        while result.count < count, low < pieces.count {
            let piece = pieces[low]
            let skip = Int(position + Int64(result.count) - piece.position)
            let wanted = min(count - result.count, piece.count - skip)
            let got = try file.bytes(at: piece.offset + Int64(skip), count: wanted)
            result += got
            if got.count < wanted { break }
            low += 1
        }
        return result
    }

    /// Pieces of the file with the bytes from `position` on.
    func stretches(from position: Int64, count: Int64) -> [(offset: Int64, count: Int64)] {
        pieces.compactMap { piece in
            let first = max(position, piece.position)
            let last = min(position + count, piece.position + Int64(piece.count))
            return first < last ? (piece.offset + first - piece.position, last - first) : nil
        }
    }
}
