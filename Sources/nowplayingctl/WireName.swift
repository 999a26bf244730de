import NowPlaying

/// Names of the command line (`skip-forward`) and of the protocol (`skipForward`).
enum WireName {
    /// Words of the command line by the protocol's names in messages.
    private static let words = Dictionary(
        (RemoteCommand.allCases.map(\.rawValue) + ["pauseSpoken"]).map { ($0, kebab($0)) } + [
            ("output.list", "nowplayingctl outputs"), ("session.list", "nowplayingctl session"),
        ]
    ) { $1 }
    /// Marks around a name in a message.
    private static let marks: Set<Character> = ["\"", "“", "”", ",", ":", ";"]

    /// The protocol's name for a word of the command line. A word without a dash stays unchanged, so the protocol's own
    /// names also work.
    static func camel(_ word: String) -> String {
        let parts = word.split(separator: "-", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    /// A message of the daemon with the command line's words in place of the protocol's names of commands and values.
    static func translated(_ message: String) -> String {
        message.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let core = word.drop { marks.contains($0) }
            let name = core.prefix { !marks.contains($0) }
            guard let own = words[String(name)] else { return String(word) }
            return word[..<core.startIndex] + own + word[name.endIndex...]
        }.joined(separator: " ")
    }

    /// The word of the command line for a name of the protocol.
    static func kebab(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
    }
}
