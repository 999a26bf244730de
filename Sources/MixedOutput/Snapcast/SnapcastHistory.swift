/// The last bytes that were sent in a connection, by their numbers.
struct SnapcastHistory {
    private let limit: Int
    private var bytes: [UInt8] = []
    /// Number of the first kept byte.
    private var first = 0

    /// Keeps at least this number of bytes, and no more than twice as many.
    init(limit: Int) { self.limit = limit }

    /// Takes note of bytes that were sent.
    mutating func append(_ sent: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: sent)
        guard bytes.count > 2 * limit else { return }
        let over = bytes.count - limit
        bytes.removeSubrange(..<over)
        first += over
    }

    /// Number of the byte at which a chunk begins that was sent, if there is one such chunk. Chunks begin at multiples of
    /// their length. Nil: it is not there, or there is another one like it.
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
