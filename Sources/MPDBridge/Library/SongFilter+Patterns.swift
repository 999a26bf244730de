import MPDProtocol

extension SongFilter {
    /// Maximum tests of a filter, and maximum patterns among them.
    static let maximumTests = 128
    static let maximumPatterns = 8

    /// The filter of these arguments; without arguments, every song matches. Throws MPD's message.
    init(_ arguments: [Argument], folds: Bool) throws(MPDFailure) {
        self = try FilterParser(foldsCase: folds).filter(arguments)
        try check()
    }

    /// Throws the failure of a filter that is too long, or has an invalid pattern.
    func check() throws(MPDFailure) {
        var (tests, patterns) = (0, 0)
        try check(&tests, &patterns)
    }

    private func check(_ tests: inout Int, _ patterns: inout Int) throws(MPDFailure) {
        switch self {
        case .all(let filters):
            for filter in filters { try filter.check(&tests, &patterns) }
            return
        case .not(let filter): return try filter.check(&tests, &patterns)
        case .text(_, let test) where test.relation == .matches:
            patterns += 1
            guard patterns <= Self.maximumPatterns else {
                throw MPDFailure(.argument, "too many patterns: a filter can have \(Self.maximumPatterns)")
            }
            guard RegularExpression(test.value, foldsCase: test.foldsCase) != nil else {
                throw MPDFailure(.argument, "Error in regex: \(test.value)")
            }
        case .text, .base, .modifiedSince, .addedSince, .format, .priority: break
        }
        tests += 1
        guard tests <= Self.maximumTests else {
            throw MPDFailure(.argument, "too many tests: a filter can have \(Self.maximumTests)")
        }
    }
}

extension QueryTail {
    /// The indexes of the window; without a window, all.
    var range: Range<Int> {
        guard let window else { return 0..<Int.max }
        return window.lower..<max(window.lower, window.upper ?? .max)
    }
}
