/// Received bytes of a client, as whole lines.
package struct LineBuffer: Sendable {
    private var bytes: [UInt8] = []
    /// Number of taken bytes at the front.
    private var start = 0

    /// A buffer without bytes.
    package init() {}

    /// Number of bytes that were not taken.
    package var count: Int { bytes.count - start }

    /// True if a whole line is there.
    package var hasLine: Bool { end != nil }

    private var end: Int? { bytes[start...].firstIndex(of: UInt8(ascii: "\n")) }

    /// Adds bytes at the end.
    package mutating func append(_ more: some Collection<UInt8>) {
        // The rest moves to the front after all lines of a read are taken.
        bytes.removeSubrange(..<start)
        start = 0
        // Exactly the needed memory: an array that grows by itself takes up to twice as much.
        bytes.reserveCapacity(bytes.count + more.count)
        bytes += more
    }

    /// Takes the next line without its end; nil: there is none yet.
    package mutating func next() -> [UInt8]? {
        guard let end else { return nil }
        let line = Array(bytes[start..<end])
        start = end + 1
        if start == bytes.count { removeAll() }
        return line
    }

    /// Drops all bytes.
    package mutating func removeAll() {
        bytes = []
        start = 0
    }
}
