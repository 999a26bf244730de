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
/// separates alternatives, without spaces of one argument, and an ellipsis repeats.
struct Grammar: Sendable {
    /// Completions for the first argument, the second, …
    private(set) var arguments: [[Offer]] = []
    /// True if the last completions also apply to all further arguments.
    private(set) var repeats = false
    /// Completions for the second argument after each first one, in place of those in `arguments`; empty: all have the same.
    private(set) var seconds: [(first: String, offers: [Offer])] = []

    /// Reads a synopsis.
    init(_ synopsis: String) {
        var repeated = Int.max
        var seconds: [(first: String, offers: [Offer])] = []
        for alternative in synopsis.filter({ $0 != "[" && $0 != "]" }).split(separator: " ").split(separator: "|") {
            let tokens = alternative.prefix { !$0.hasPrefix("--") }
            let offers = tokens.map { Grammar.offers($0.hasSuffix("…") ? $0.dropLast() : $0) }
            for (position, token) in tokens.enumerated() {
                if token.hasSuffix("…") { repeated = position }
                if arguments.count == position { arguments.append([]) }
                for offer in offers[position] { Grammar.add(offer, to: &arguments[position]) }
            }
            for case .words(let words) in offers.first ?? [] {
                seconds += words.map { ($0, offers.count > 1 ? offers[1] : []) }
            }
        }
        if Set(seconds.map(\.offers)).count > 1 {
            self.seconds = seconds.filter { !$0.offers.isEmpty }
            arguments[1] = []
        }
        while arguments.last?.isEmpty == true { arguments.removeLast() }
        repeats = repeated < arguments.count
    }

    /// Completions for one argument: `off|TIME`.
    private static func offers(_ argument: Substring) -> [Offer] {
        var offers: [Offer] = []
        for name in argument.split(separator: "|") {
            if name.contains(where: \.isUppercase) {
                if let offer = offer(String(name)) { add(offer, to: &offers) }
            } else if name.contains(where: \.isLetter) {
                add(.words([String(name)]), to: &offers)
            }
        }
        return offers
    }

    /// Adds completions: words are joined, and come first.
    private static func add(_ offer: Offer, to offers: inout [Offer]) {
        guard case .words(let words) = offer else {
            if !offers.contains(offer) { offers.append(offer) }
            return
        }
        if case .words(let present)? = offers.first {
            offers[0] = .words(present + words)
        } else {
            offers.insert(offer, at: 0)
        }
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
