/// The last bytes that were sent on a connection, by their numbers.
struct SnapcastHistory {
    private let limit: Int
    private var bytes: [UInt8] = []
    /// Number of the first kept byte.
    private var first = 0

    /// Keeps at least this many bytes, and at most twice as many.
    init(limit: Int) { self.limit = limit }

    /// Adds bytes that were sent.
    mutating func append(_ sent: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: sent)
        guard bytes.count > 2 * limit else { return }
        let over = bytes.count - limit
        bytes.removeSubrange(..<over)
        first += over
    }

    /// Number of the byte at which the kept bytes contain this chunk. Chunks begin at multiples of their length. Nil:
    /// they do not contain it, or contain it more than once.
    func place(of chunk: [UInt8]) -> Int? {
        guard !chunk.isEmpty, chunk.contains(where: { $0 != chunk[0] }) else { return nil }
        var found: Int?
        let begin = (first + chunk.count - 1) / chunk.count * chunk.count
        for start in stride(from: begin, through: first + bytes.count - chunk.count, by: chunk.count)
        where bytes[(start - first)..<(start - first + chunk.count)].elementsEqual(chunk) {
            guard found == nil else { return nil }
            found = start
        }
        return found
    }
}
