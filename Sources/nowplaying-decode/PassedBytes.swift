/// The first bytes of a file after each jump. A search for a position, and for the end, comes to the same places several times:
/// it loads them once.
struct PassedBytes {
    /// Maximum bytes of a part, and maximum number of parts.
    private static let most = (bytes: 128 << 10, parts: 8)
    /// Bytes at the end in which a search for it goes backwards.
    private static let endBytes: Int64 = 64 << 10
    private var parts: [(offset: Int64, bytes: [UInt8])] = []
    /// Offset after the last byte that came; nil: none came.
    private var next: Int64?
    /// True while the bytes that come belong to the last part.
    private var isKeeping = false

    /// Takes the bytes that came at this offset, and keeps them if they are new, and among the first ones after a jump.
    mutating func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        if offset != next {
            isKeeping = !isKept(offset)
            if isKeeping {
                if parts.count == Self.most.parts { parts.removeFirst() }
                parts.append((offset, []))
            }
        }
        next = offset + Int64(bytes.count)
        guard isKeeping else { return }
        let last = parts.count - 1
        parts[last].bytes += bytes.prefix(Self.most.bytes - parts[last].bytes.count)
        isKeeping = parts[last].bytes.count < Self.most.bytes
    }

    private func isKept(_ offset: Int64) -> Bool {
        parts.contains { offset >= $0.offset && offset < $0.offset + Int64($0.bytes.count) }
    }

    /// Copies the bytes at this offset that are kept; returns their number.
    func copy(at offset: Int64, into target: UnsafeMutableRawBufferPointer) -> Int {
        for part in parts where offset >= part.offset && offset < part.offset + Int64(part.bytes.count) {
            let rest = part.bytes[Int(offset - part.offset)...].prefix(target.count)
            target.copyBytes(from: rest)
            return rest.count
        }
        return 0
    }

    /// Offset from which on to load for a jump to a position: near the end, all of it, as a search for it goes backwards.
    static func beginning(of position: Int64, size: Int64?) -> Int64 {
        guard let size, size - position < endBytes else { return position }
        return max(0, size - endBytes)
    }
}
