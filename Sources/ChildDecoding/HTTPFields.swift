import NowPlaying

/// The head of an answer over HTTP, or of an old radio server's, as its lines come. What a server sends is taken for hostile.
package struct HTTPFields {
    /// Kind of a line.
    package enum Line: Equatable {
        case status, field, end
        /// A line of no known form.
        case other
    }

    /// Maximum bytes of a line, and maximum number of fields.
    package static let maximum = (bytes: 16 << 10, count: 200)
    private var fields: [(name: String, value: [UInt8])] = []

    /// A head without lines.
    package init() {}

    /// Takes the next line, with its end; nil: it is too long, or one too many. Another status line starts a new head.
    package mutating func take(_ line: some Collection<UInt8>) -> Line? {
        guard line.count <= Self.maximum.bytes, fields.count < Self.maximum.count else { return nil }
        if line.starts(with: Array("HTTP/".utf8)) || line.starts(with: Array("ICY ".utf8)) {
            fields = []
            return .status
        }
        if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let value = line[line.index(after: colon)...].drop { $0 == 0x20 || $0 == 0x09 }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            fields.append((name, Array(value.prefix { $0 != 0x0D && $0 != 0x0A })))
            return .field
        }
        return line.allSatisfy { $0 == 0x0D || $0 == 0x0A } ? .end : .other
    }

    /// The value of a field, by its name in small letters; the last value if there are several.
    package subscript(name: String) -> String? { bytes(name).map { String(decoding: $0, as: UTF8.self) } }

    /// The same in the server's encoding: names of stations are often Latin-1.
    package func bytes(_ name: String) -> [UInt8]? { fields.last { $0.name == name }?.value }

    /// Bytes of the body; nil: unknown or invalid.
    package var contentLength: Int64? { self["content-length"].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil } }

    /// Bytes of the whole file if the body begins at this offset; nil: unknown.
    package func wholeLength(from offset: Int64) -> Int64? {
        guard let sum = contentLength?.addingReportingOverflow(offset), !sum.overflow else { return nil }
        return sum.partialValue
    }

    /// True if the field content-range says that the body begins at this offset.
    package func begins(at offset: Int64) -> Bool { self["content-range"]?.hasPrefix("bytes \(offset)-") == true }

    /// Bytes of the whole file, by the field content-range; nil: unknown.
    package var rangedLength: Int64? { self["content-range"]?.split(separator: "/").last.flatMap { Int64($0) } }

    /// True if the server accepts range requests.
    package var acceptsRanges: Bool { self["accept-ranges"]?.lowercased().holds("bytes") == true }

    /// True if the server says nothing about range requests.
    package var saysNothingOfRanges: Bool { self["accept-ranges"] == nil }

    /// True if the body ends with a mark of its own.
    package var isChunked: Bool { self["transfer-encoding"]?.lowercased().holds("chunked") == true }

    /// True for a radio station. A station's server has files, too: with a length, or with range requests.
    package var isStation: Bool {
        if titleInterval != nil { return true }
        if fields.contains(where: { $0.name.hasPrefix("icy-") }) { return contentLength == nil || !acceptsRanges }
        let server = self["server"]?.lowercased() ?? ""
        return contentLength == nil && (server.hasPrefix("icecast") || server.holds("shoutcast"))
    }

    /// Bytes of audio between two titles in the stream; nil: there are none.
    package var titleInterval: Int? { self["icy-metaint"].flatMap { Int($0) } }

    /// The server's content type, in lower case and without its parameters.
    package var contentType: String {
        (self["content-type"] ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    }
}
