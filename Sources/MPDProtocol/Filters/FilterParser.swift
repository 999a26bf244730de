/// Reads filters: pairs of a field and a value, expressions in round brackets, or both.
package struct FilterParser {
    /// True for `search`: values are parts of texts, and the comparison ignores case.
    private let foldsCase: Bool

    /// Maximum bytes of a value in quotes.
    static let maximumValue = 4096
    /// Maximum nesting of brackets.
    static let maximumDepth = 64

    /// A parser for requests that compare exactly, or for requests that search.
    package init(foldsCase: Bool) { self.foldsCase = foldsCase }

    /// The filter of these arguments. Throws MPD's message.
    package func filter(_ arguments: some Collection<Argument>) throws(MPDFailure) -> SongFilter {
        guard !arguments.isEmpty else { throw Self.wrongCount }
        var filters: [SongFilter] = []
        var rest = arguments[...]
        while let first = rest.popFirst() {
            if first.bytes.first == UInt8(ascii: "(") {
                filters.append(try expression(first))
            } else {
                guard let value = rest.popFirst() else { throw Self.wrongCount }
                filters.append(try pair(first, value))
            }
        }
        return filters.count == 1 ? filters[0] : .all(filters)
    }

    private static let wrongCount = MPDFailure(.argument, "Incorrect number of filter arguments")

    // MARK: Pairs

    private func pair(_ name: Argument, _ value: Argument) throws(MPDFailure) -> SongFilter {
        guard let subject = FilterSubject(name) else { throw MPDFailure(.argument, "Unknown filter type") }
        switch subject {
        case .text(let field):
            // Old clients search for parts of texts with pairs.
            return .text(field, TextTest(foldsCase ? .contains : .equals, value.text, foldsCase: foldsCase))
        case .base:
            guard Self.isSafe(value.bytes) else { throw MPDFailure(.argument, "Bad URI") }
            return .base(Self.folder(value.bytes))
        case .modifiedSince: return .modifiedSince(try Self.time(value.text))
        case .addedSince: return .addedSince(try Self.time(value.text))
        case .format:
            guard let test = FormatTest(value.text, isMask: false) else { throw Self.badFormat }
            return .format(test)
        case .priority: return .priority(try Self.priority(value.text))
        }
    }

    // MARK: Expressions

    private func expression(_ argument: Argument) throws(MPDFailure) -> SongFilter {
        var scanner = FilterScanner(argument.bytes)
        let filter = try expression(&scanner, depth: 0)
        guard scanner.isAtEnd else { throw MPDFailure(.argument, "Unparsed garbage after expression") }
        return filter
    }

    /// Reads an expression in brackets, and the white space after it.
    private func expression(_ scanner: inout FilterScanner, depth: Int) throws(MPDFailure) -> SongFilter {
        guard depth < Self.maximumDepth else { throw MPDFailure(.argument, "Expression is nested too deeply") }
        try scanner.expect("(")
        let filter: SongFilter
        if scanner.isNext("(") {
            filter = try conjunction(&scanner, depth)
        } else if scanner.take("!") {
            guard scanner.isNext("(") else { throw MPDFailure(.argument, "'(' expected") }
            filter = .not(try expression(&scanner, depth: depth + 1))
        } else {
            filter = try test(&scanner)
        }
        try scanner.expect(")")
        return filter
    }

    private func conjunction(_ scanner: inout FilterScanner, _ depth: Int) throws(MPDFailure) -> SongFilter {
        var filters = [try expression(&scanner, depth: depth + 1)]
        while !scanner.isNext(")") {
            guard try scanner.word() == "AND" else { throw MPDFailure(.argument, "'AND' expected") }
            filters.append(try expression(&scanner, depth: depth + 1))
        }
        return filters.count == 1 ? filters[0] : .all(filters)
    }

    private func test(_ scanner: inout FilterScanner) throws(MPDFailure) -> SongFilter {
        let name = try scanner.word()
        guard let subject = FilterSubject(Argument(name)) else {
            throw MPDFailure(.argument, "Unknown filter type: \(name)")
        }
        switch subject {
        case .text(let field): return .text(field, try scanner.textTest(foldsCase: foldsCase))
        case .base: return .base(Self.folder(try scanner.quoted()))
        case .modifiedSince: return .modifiedSince(try Self.time(try scanner.quotedText()))
        case .addedSince: return .addedSince(try Self.time(try scanner.quotedText()))
        case .format:
            let isMask = try scanner.formatRelation()
            guard let test = FormatTest(try scanner.quotedText(), isMask: isMask) else { throw Self.badFormat }
            return .format(test)
        case .priority:
            guard scanner.take(">=") else { throw MPDFailure(.argument, "'>=' expected") }
            return .priority(try Self.priority(scanner.number()))
        }
    }

    private static let badFormat = MPDFailure(.argument, "Failed to parse the audio format")

    private static func time(_ text: String) throws(MPDFailure) -> Int64 {
        guard let time = MPDNumbers.unix(text) else { throw MPDFailure(.argument, "Failed to parse time stamp") }
        return time
    }

    private static func priority(_ text: String) throws(MPDFailure) -> Int {
        guard let number = Int(text) else { throw MPDFailure(.argument, "Number expected") }
        return number
    }

    /// A folder's name without slashes at its ends.
    private static func folder(_ bytes: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let begin = bytes.drop { $0 == slash }
        return Array(begin.prefix(begin.lastIndex { $0 != slash }.map { $0 + 1 - begin.startIndex } ?? 0))
    }

    /// True for a name below the library: it has no leading slash and no `..`.
    private static func isSafe(_ bytes: [UInt8]) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return bytes.isEmpty || parts.allSatisfy { !$0.isEmpty && $0 != [0x2E] && $0 != [0x2E, 0x2E] }
    }
}

/// The subject of a test, by its name.
private enum FilterSubject {
    case text(SongField)
    case base, modifiedSince, addedSince, format, priority

    init?(_ name: Argument) {
        if name.isWord("file") || name.isWord("filename") {
            self = .text(.file)
        } else if name.isWord("any") {
            self = .text(.any)
        } else if name.isWord("AudioFormat") {
            self = .format
        } else if let tag = MPDTag(name) {
            self = .text(.tag(tag))
        } else {
            switch name.text {
            case "base": self = .base
            case "modified-since": self = .modifiedSince
            case "added-since": self = .addedSince
            case "prio": self = .priority
            case _: return nil
            }
        }
    }
}
