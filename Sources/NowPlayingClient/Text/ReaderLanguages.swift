package import ControlProtocol

/// The languages of the user, by the environment (locale(7), and GNU gettext's `LANGUAGE`).
package enum ReaderLanguages {
    /// Tags of BCP 47, the preferred one first; empty if the environment names none. `variable` returns its variables.
    package static func preferred(_ variable: (String) -> String?) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(variable).first { !$0.isEmpty } ?? ""
        guard let own = tag(ofLocale: locale) else { return [] }
        let listed = (variable("LANGUAGE") ?? "").split(separator: ":").compactMap { tag(ofLocale: String($0)) }
        return Array((listed.isEmpty ? [own] : listed).prefix(16))
    }

    /// Parameter `languages` for `nowPlaying.get` and `nowPlaying.subscribe`; nil: no languages.
    package static func parameter(_ variable: (String) -> String?) -> JSONValue? {
        let languages = preferred(variable)
        return languages.isEmpty ? nil : .array(languages.map(JSONValue.string))
    }

    /// `de_AT.UTF-8@euro` → `de-AT`; nil for `C` and `POSIX`, and for invalid names.
    private static func tag(ofLocale locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        guard name != "C", name != "POSIX", (2...35).contains(name.utf8.count) else { return nil }
        guard name.utf8.allSatisfy({ isAlphanumeric($0) || $0 == UInt8(ascii: "_") }) else { return nil }
        return String(name.map { $0 == "_" ? "-" : $0 })
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
