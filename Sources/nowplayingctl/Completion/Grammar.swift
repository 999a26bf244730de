import ControlProtocol
import NowPlaying

/// Completions for a word.
enum Offer: Hashable, Sendable {
    /// Names of files.
    case files
    /// One of these.
    case words([String])
    /// Names from `nowplayingctl completion` with this argument, such as `outputs`, and the typed beginning.
    case names(String)
}

/// Arguments of a verb, read from its synopsis: capitals are placeholders, small letters are literal words, a bar
/// separates alternatives, and an ellipsis repeats.
struct Grammar: Sendable {
    /// Completions for the first argument, the second, …
    private(set) var arguments: [[Offer]] = []
    /// True if the last completions also apply to all further arguments.
    private(set) var repeats = false

    /// Reads a synopsis.
    init(_ synopsis: String) {
        var words: [[String]] = []
        var repeated = Int.max
        for alternative in synopsis.split(separator: "|") {
            let tokens = alternative.filter { $0 != "[" && $0 != "]" }.split(separator: " ")
                .prefix { !$0.hasPrefix("--") }
            for (position, token) in tokens.enumerated() {
                if arguments.count == position {
                    arguments.append([])
                    words.append([])
                }
                if token.hasSuffix("…") { repeated = position }
                let name = token.hasSuffix("…") ? String(token.dropLast()) : String(token)
                if name.contains(where: \.isUppercase) {
                    if let offer = Grammar.offer(name), !arguments[position].contains(offer) {
                        arguments[position].append(offer)
                    }
                } else if name.contains(where: \.isLetter) {
                    words[position].append(name)
                }
            }
        }
        for (position, words) in words.enumerated() where !words.isEmpty {
            arguments[position].insert(.words(words), at: 0)
        }
        while arguments.last?.isEmpty == true { arguments.removeLast() }
        repeats = repeated < arguments.count
    }

    /// Completions for a value with this placeholder.
    static func offer(_ name: String) -> Offer? {
        if name.contains("|") { return .words(name.split(separator: "|").map(String.init)) }
        switch name {
        case "FILE", "PATH", "PROGRAM": return .files
        case "OUTPUT": return .names("outputs")
        case "SESSION": return .names("sessions")
        case "HOOK": return .names("hooks")
        case "DEVICE": return .names("devices")
        case "ROOM": return .names("rooms")
        case "LIST": return .names("lists")
        case "ARTIST": return .names("artists")
        case "ALBUM": return .names("albums")
        case "GENRE": return .names("genres")
        case "COMPOSER": return .names("composers")
        case "FOLDER": return .names("folders")
        case "COMMAND": return .words(RemoteCommand.allCases.map(\.rawValue))
        case "METHOD": return .words(Catalogue.methods.map(\.name))
        case "VERB": return .words(Verb.all.map(\.name))
        case "STARS": return .words((0...5).map(String.init))
        case "RATE": return .words(["0.5", "0.75", "1", "1.25", "1.5", "1.75", "2", "2.5", "3"])
        default: return nil
        }
    }
}

extension Verb {
    /// Its arguments.
    var grammar: Grammar { Grammar(synopsis) }
    /// The verb's name and its aliases.
    var names: [String] { [name] + aliases }
    /// The verbs for completion: the table and `help`, which is not in it.
    static let completed =
        all + [Verb(name: "help", synopsis: "[VERB]", summary: "explain", arity: 0...1) { _ throws(Failure) in }]
}

extension Option {
    /// Completions for its value.
    var offer: Offer? { value.flatMap(Grammar.offer) }
    /// `--next`, and the short name.
    var names: [String] { (short.map { [$0] } ?? []) + [name] }
}
