import Testing

/// One row of the table of servers that behave badly: a format, the server's answers, and its trouble.
struct BadServerRow: Hashable, CustomTestStringConvertible, Sendable {
    enum Format: String, CaseIterable, Sendable { case mp3, aac, ogg, flac, m4a, hls }
    enum Trouble: String, CaseIterable, Sendable {
        /// The connection ends in the middle.
        case drop
        /// Nothing more comes by the connection, which stays open.
        case silence
        /// The first request gets 404.
        case notFound
        /// The address redirects to https, and that back to http.
        case redirects
        /// The daemon ends and starts again.
        case restart
    }

    let format: Format
    let isLive: Bool
    /// The answer has a `Content-Length`.
    let hasLength: Bool
    /// A request for a range gets that range.
    let sendsParts: Bool
    /// The answer has `Accept-Ranges: bytes`.
    let offersParts: Bool
    /// Fields `icy-*`; with titles in a live stream.
    let isIcy: Bool
    let isChunked: Bool
    let trouble: Trouble

    /// A value of a column: its number in the list of columns, and its word.
    struct Value: Hashable, Sendable {
        let column: Int
        let word: String
    }

    /// Two values of different columns, the one of the first column first.
    struct Pair: Hashable, CustomStringConvertible, Sendable {
        let first: Value
        let second: Value
        var description: String { "\(first.word) × \(second.word)" }
    }

    /// The values of the row, one for each column.
    var values: [Value] {
        let words = [
            format.rawValue, isLive ? "live" : "file", hasLength ? "length" : "no length",
            sendsParts ? "ranges" : "no ranges", offersParts ? "Accept-Ranges" : "no Accept-Ranges",
            isIcy ? "icy" : "no icy", isChunked ? "chunked" : "not chunked", trouble.rawValue,
        ]
        return words.enumerated().map { Value(column: $0, word: $1) }
    }

    /// The pairs of its values.
    var pairs: [Pair] {
        let values = values
        return values.indices.flatMap { one in
            values[(one + 1)...].map { Pair(first: values[one], second: $0) }
        }
    }

    var testDescription: String { values.map(\.word).joined(separator: ", ") }

    // MARK: Possible rows

    /// Reason why no server is like that; nil: one is. The parts of an HLS stream are files, live or not.
    var obstacle: String? {
        if isChunked, hasLength { return "a body in chunks has no Content-Length (RFC 9112 §6.2)" }
        if isLive, format == .m4a { return "the index of an M4A is made at its end" }
        if format == .hls { return nil }
        if isLive, sendsParts { return "a live stream has no offsets" }
        if isLive, hasLength, !isIcy { return "a stream with a length and without titles is a file" }
        if !isLive, isIcy, !hasLength || !offersParts { return "a source with icy fields is a station without these" }
        return nil
    }

    /// All combinations.
    static let cross: [BadServerRow] = Format.allCases.flatMap { format in
        Trouble.allCases.flatMap { trouble in
            (0..<64).map { bits in
                BadServerRow(
                    format: format, isLive: bits & 1 != 0, hasLength: bits & 2 != 0, sendsParts: bits & 4 != 0,
                    offersParts: bits & 8 != 0, isIcy: bits & 16 != 0, isChunked: bits & 32 != 0, trouble: trouble)
            }
        }
    }

    /// All that are possible.
    static let possible = cross.filter { $0.obstacle == nil }

    /// Pairs that no possible row has, with the reason.
    static let impossiblePairs: [String: String] = [
        "length × chunked": "a body in chunks has no Content-Length (RFC 9112 §6.2)",
        "m4a × live": "the index of an M4A is made at its end",
    ]

    /// Rows in which each possible pair occurs, and most of them twice.
    static let covering: [BadServerRow] = {
        var numbers: [Pair: Int] = [:]
        var left = possible.map { row in
            (
                row: row,
                pairs: row.pairs.map { pair in
                    let number = numbers[pair] ?? numbers.count
                    numbers[pair] = number
                    return number
                }
            )
        }
        var missing = [Int](repeating: 2, count: numbers.count)
        var rows: [BadServerRow] = []
        while true {
            // The first one of those that gain most, so that the table is always the same.
            var best = (index: 0, gain: 0)
            for (index, entry) in left.enumerated() {
                let gain = entry.pairs.reduce(0) { $0 + missing[$1] }
                if gain > best.gain { best = (index, gain) }
            }
            guard best.gain > 0 else { return rows }
            let entry = left.remove(at: best.index)
            for pair in entry.pairs { missing[pair] = max(0, missing[pair] - 1) }
            rows.append(entry.row)
        }
    }()
}
