import LinuxSystem
import MPDProtocol

extension SongFilter {
    /// The filter of these arguments; without arguments, every song matches. Throws MPD's message.
    init(_ arguments: [Argument], folds: Bool) throws(MPDFailure) {
        self = try FilterParser(foldsCase: folds).filter(arguments)
        try checkPatterns()
    }

    /// Throws PCRE's message for an invalid pattern.
    func checkPatterns() throws(MPDFailure) {
        switch self {
        case .all(let filters): for filter in filters { try filter.checkPatterns() }
        case .not(let filter): try filter.checkPatterns()
        case .text(_, let test) where test.relation == .matches:
            guard RegularExpression.begin(test.value, foldsCase: test.foldsCase) else {
                throw MPDFailure(.argument, "Error in regex: \(test.value)")
            }
        case .text, .base, .modifiedSince, .addedSince, .format, .priority: break
        }
    }

    /// The failure of a query whose patterns take too many steps; nil: they do not.
    var excess: MPDFailure? {
        switch self {
        case .all(let filters): return filters.lazy.compactMap(\.excess).first
        case .not(let filter): return filter.excess
        case .text(_, let test) where test.relation == .matches:
            guard RegularExpression.isTooComplex(test.value, foldsCase: test.foldsCase) else { return nil }
            return MPDFailure(.argument, "Error in regex: it takes too many steps: \(test.value)")
        case .text, .base, .modifiedSince, .addedSince, .format, .priority: return nil
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
