/// Lines in one piece of memory: a line costs its bytes and one more, however short it is. Lines have no line end in them.
package struct LineList: Collection, Equatable, Sendable {
    /// The lines, each with a line end.
    private var bytes: [UInt8] = []
    /// Number of lines.
    package private(set) var count = 0

    private static let lineFeed = UInt8(ascii: "\n")

    /// No lines.
    package init() {}

    /// These lines.
    package init(_ lines: some Sequence<[UInt8]>) {
        for line in lines { append(line) }
    }

    /// Bytes of memory.
    package var cost: Int { bytes.capacity }

    /// The first line.
    package var startIndex: Int { 0 }
    /// Bytes of all lines, with their line ends.
    package var endIndex: Int { bytes.count }

    /// The line after a line. Takes the time of a search for its end.
    package func index(after index: Int) -> Int { end(of: index) + 1 }

    /// A line without its line end.
    package subscript(index: Int) -> [UInt8] { Array(bytes[index..<end(of: index)]) }

    /// Adds a line at the end.
    package mutating func append(_ line: [UInt8]) {
        bytes += line
        bytes.append(Self.lineFeed)
        count += 1
    }

    private func end(of index: Int) -> Int { bytes[index...].firstIndex(of: Self.lineFeed) ?? bytes.count }
}
