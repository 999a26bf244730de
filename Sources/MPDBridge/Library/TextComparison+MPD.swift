import CPCRE2
import MPDProtocol

extension TextComparison {
    /// Comparisons as MPD makes them: letters by Unicode, patterns by PCRE.
    static let mpd = TextComparison(fold: CaseFolding.fold, matches: { RegularExpression.matches($0, $1, $2) })
}

/// Texts without the case of their letters.
enum CaseFolding {
    /// The text with small letters. Capital letters first: a letter such as ß has several capital ones.
    @Sendable static func fold(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0 < 0x80 }
        return isPlain ? text.lowercased() : text.uppercased().lowercased()
    }
}

/// A pattern of PCRE.
final class RegularExpression {
    private let code: OpaquePointer
    private let match: OpaquePointer

    /// Steps of one comparison, at most: some patterns take for ever.
    private static let maximumSteps: UInt32 = 10_000
    /// Comparisons of one question that may reach this limit.
    private static let maximumLong = 100
    /// Patterns that are kept, compiled.
    private static let maximumKept = 16

    /// Comparisons that reached the limit.
    private var long = 0

    /// True if so many comparisons reached the limit that the pattern is compared no more.
    private var isTooComplex: Bool { long >= Self.maximumLong }

    /// A pattern; nil: it is none.
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

    /// True if a part of the text matches the pattern; false for a pattern that is none.
    static func matches(_ text: String, _ pattern: String, _ foldsCase: Bool) -> Bool {
        kept(pattern, foldsCase)?.matches(text) ?? false
    }

    /// A new question begins, whose comparisons count from 0. False: the pattern is none.
    static func begin(_ pattern: String, foldsCase: Bool) -> Bool {
        let made = kept(pattern, foldsCase)
        made?.long = 0
        return made != nil
    }

    /// True if the last question with this pattern reached the limit of steps too often.
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
