import LinuxSystem
import TrackReading

/// Names of files that people take for the same: their texts are equal in a normal form of Unicode, or but for the case of
/// letters. A pure value.
struct NameMatch {
    /// The result of a search for a name.
    enum Outcome: Equatable {
        case found(FilePath)
        /// Several names differ from the wanted one by the case of letters only.
        case ambiguous
        case none
    }

    /// The names by their texts; texts that are canonically equivalent are the same key.
    private var byText: [String: [FilePath]] = [:]
    private var byLetters: [String: [FilePath]] = [:]

    /// Matches these names; `key` is the part of each that counts.
    init(_ names: some Sequence<FilePath>, key: (FilePath) -> ArraySlice<UInt8> = { $0.name }) {
        for name in names {
            let text = LegacyText.decoded(key(name))
            byText[text, default: []].append(name)
            byLetters[text.lowercased(), default: []].append(name)
        }
    }

    /// The name for a wanted text: one that is equivalent to it, else the only one that is it but for the case of letters.
    func match(_ wanted: some Collection<UInt8>) -> Outcome {
        let text = LegacyText.decoded(wanted)
        // Two spellings of one text: either is meant.
        if let first = byText[text]?.first { return .found(first) }
        guard let found = byLetters[text.lowercased()], let first = found.first else { return .none }
        return found.count == 1 ? .found(first) : .ambiguous
    }
}
