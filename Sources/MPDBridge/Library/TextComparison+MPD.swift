import CPCRE2
import MPDProtocol

extension TextComparison {
    /// MPD's comparisons: letters by Unicode, patterns by PCRE.
    static let mpd = TextComparison(fold: CaseFolding.fold, matches: { RegularExpression.matches($0, $1, $2) })
}

/// Case folding of texts.
enum CaseFolding {
    /// The text in small letters. It is first converted to capital letters, as a letter such as ß becomes several.
    @Sendable static func fold(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0 < 0x80 }
        return isPlain ? text.lowercased() : text.uppercased().lowercased()
    }
}

/// A pattern of PCRE.
final class RegularExpression {
    private let code: OpaquePointer
    private let match: OpaquePointer

    /// Maximum steps of one comparison: some patterns take practically unlimited time.
    private static let maximumSteps: UInt32 = 10_000
    /// Number of comparisons of one query that may reach this limit.
    private static let maximumLong = 100
    /// Maximum number of kept compiled patterns.
    private static let maximumKept = 16

    /// Number of comparisons that reached the limit.
    private var long = 0

    /// True if too many comparisons reached the limit, so the pattern is not used any more.
    private var isTooComplex: Bool { long >= Self.maximumLong }

    /// A pattern; nil: the text is not a valid pattern.
    init?(_ pattern: String, foldsCase: Bool) {
        var error: Int32 = 0
        var offset = 0
        let options = UInt32(PCRE2_UTF) | UInt32(PCRE2_NO_UTF_CHECK) | (foldsCase ? UInt32(PCRE2_CASELESS) : 0)
        let bytes = Array(pattern.utf8)
        guard let code = pcre2_compile_8(bytes, bytes.count, options, &error, &offset, nil) else { return nil }
        guard let match = pcre2_match_data_create_from_pattern_8(code, nil) else {
            pcre2_code_free_8(code)
            return nil
        }
        self.code = code
        self.match = match
    }

    deinit {
        pcre2_match_data_free_8(match)
        pcre2_code_free_8(code)
    }

    /// True if a part of the text matches.
    func matches(_ text: String) -> Bool {
        guard !isTooComplex else { return false }
        let context = pcre2_match_context_create_8(nil)
        defer { pcre2_match_context_free_8(context) }
        pcre2_set_match_limit_8(context, Self.maximumSteps)
        var text = text
        let result = text.withUTF8 { bytes in
            pcre2_match_8(code, bytes.baseAddress, bytes.count, 0, UInt32(PCRE2_NO_UTF_CHECK), match, context)
        }
        if result == PCRE2_ERROR_MATCHLIMIT { long += 1 }
        return result >= 0
    }

    /// True if a part of the text matches the pattern; false for an invalid pattern.
    static func matches(_ text: String, _ pattern: String, _ foldsCase: Bool) -> Bool {
        kept(pattern, foldsCase)?.matches(text) ?? false
    }

    /// Begins a new query, whose comparisons count from 0. False: the pattern is invalid.
    static func begin(_ pattern: String, foldsCase: Bool) -> Bool {
        let made = kept(pattern, foldsCase)
        made?.long = 0
        return made != nil
    }

    /// True if the last query with this pattern reached the limit of steps too often.
    static func isTooComplex(_ pattern: String, foldsCase: Bool) -> Bool {
        kept(pattern, foldsCase)?.isTooComplex ?? false
    }

    private static func kept(_ pattern: String, _ foldsCase: Bool) -> RegularExpression? {
        let key = (foldsCase ? "i" : "c") + pattern
        if let known = cache[key] { return known }
        guard let made = RegularExpression(pattern, foldsCase: foldsCase) else { return nil }
        if cache.count >= maximumKept { cache = [:] }
        cache[key] = made
        return made
    }

    /// The patterns of the last comparisons.
    nonisolated(unsafe) private static var cache: [String: RegularExpression] = [:]
}
