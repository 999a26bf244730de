/// The bytes of a zone file that are left. Numbers have their highest byte first. Each function throws `truncated` with
/// the part of the file if too few bytes are left.
struct ZoneFileReader {
    private let all: [UInt8]
    private var offset = 0

    /// A reader at the first byte.
    init(_ bytes: [UInt8]) { all = bytes }

    /// Skips bytes of a part of the file.
    mutating func skip(_ count: Int, _ part: ZoneFileError.Part) throws(ZoneFileError) {
        guard count <= all.count - offset else { throw .truncated(part) }
        offset += count
    }

    /// Takes bytes of a part of the file.
    mutating func bytes(_ count: Int, _ part: ZoneFileError.Part) throws(ZoneFileError) -> ArraySlice<UInt8> {
        try skip(count, part)
        return all[offset - count..<offset]
    }

    /// Takes a byte of a part of the file.
    mutating func byte(_ part: ZoneFileError.Part) throws(ZoneFileError) -> UInt8 {
        try skip(1, part)
        return all[offset - 1]
    }

    /// Takes a signed number of four bytes.
    mutating func signed32(_ part: ZoneFileError.Part) throws(ZoneFileError) -> Int32 {
        Int32(truncatingIfNeeded: try time(4, part))
    }

    /// Takes a number of elements, in the header.
    mutating func count() throws(ZoneFileError) -> Int {
        Int(UInt32(truncatingIfNeeded: try time(4, .header)))
    }

    /// Takes a signed number of `width` bytes, 4 or 8.
    mutating func time(_ width: Int, _ part: ZoneFileError.Part) throws(ZoneFileError) -> Int64 {
        var number: UInt64 = 0
        for byte in try bytes(width, part) { number = number << 8 | UInt64(byte) }
        return width == 4 ? Int64(Int32(truncatingIfNeeded: number)) : Int64(bitPattern: number)
    }

    /// Takes the transition times, of `width` bytes each.
    mutating func times(_ count: Int, _ width: Int) throws(ZoneFileError) -> [Int64] {
        // Without this the memory would follow the claim of a header.
        guard count * width <= all.count - offset else { throw .truncated(.times) }
        var times: [Int64] = []
        times.reserveCapacity(count)
        for _ in 0..<count { times.append(try time(width, .times)) }
        return times
    }
}
