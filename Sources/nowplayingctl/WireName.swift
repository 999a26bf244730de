/// Names of the command line (`skip-forward`) and of the protocol (`skipForward`).
enum WireName {
    /// The protocol's name for a word of the command line. A word without a dash stays unchanged, so the protocol's own
    /// names also work.
    static func camel(_ word: String) -> String {
        let parts = word.split(separator: "-", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    /// The word of the command line for a name of the protocol.
    static func kebab(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
    }
}
