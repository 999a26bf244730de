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
    private static let maximumSteps: UInt32 = 100_000

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
        let context = pcre2_match_context_create_8(nil)
        defer { pcre2_match_context_free_8(context) }
        pcre2_set_match_limit_8(context, Self.maximumSteps)
        var text = text
        return text.withUTF8 { bytes in
            pcre2_match_8(code, bytes.baseAddress, bytes.count, 0, UInt32(PCRE2_NO_UTF_CHECK), match, context) >= 0
        }
    }

    /// True if a part of the text matches the pattern; false for a pattern that is none.
    static func matches(_ text: String, _ pattern: String, _ foldsCase: Bool) -> Bool {
        let key = (foldsCase ? "i" : "c") + pattern
        if let known = cache, known.key == key { return known.made?.matches(text) ?? false }
        let made = RegularExpression(pattern, foldsCase: foldsCase)
        cache = (key, made)
        return made?.matches(text) ?? false
    }

    /// The pattern of the last comparison on this thread.
    nonisolated(unsafe) private static var cache: (key: String, made: RegularExpression?)?
}
