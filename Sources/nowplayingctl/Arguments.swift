import ControlProtocol
import NowPlayingClient

/// One argument of the command line. A file name need not be UTF-8.
struct Word: Sendable {
    /// The bytes from the kernel, without the zero at the end.
    var bytes: [UInt8]
    /// The argument as text, repaired if it is not UTF-8.
    var text: String { String(decoding: bytes, as: UTF8.self) }
    /// The argument as text that is safe to print.
    var shown: String { TerminalText.safe(text) }
}

/// An option of the command line.
struct Option: Sendable {
    /// `--next`.
    var name: String
    /// `-f`, if there is one.
    var short: String?
    /// Placeholder of the value in the help; nil: the option has no value.
    var value: String?
    /// A phrase about the effect.
    var help: String
    /// True if the option may stand several times.
    private(set) var mayRepeat = false

    /// An option, by its parts.
    init(_ name: String, short: String? = nil, value: String? = nil, _ help: String) {
        self.name = name
        self.short = short
        self.value = value
        self.help = help
    }

    /// The same option, which may stand several times if it has a value.
    var repeatable: Option {
        var option = self
        option.mayRepeat = value != nil
        return option
    }
}

/// The command line, taken apart: options may stand anywhere, `--` ends them, and `-15` is a number.
struct Arguments {
    /// Values of the options of the command line by their long names, in their order; an option without a value has an empty
    /// one.
    private(set) var options: [String: [Word]] = [:]
    /// All arguments that are not options.
    private(set) var words: [Word] = []

    /// Parses the command line by the options of all verbs. Throws the fault of the command line.
    init(_ arguments: [Word], knowing known: [Option]) throws(Failure) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            let text = word.text
            if text == "--" {
                words += rest
                return
            }
            guard Arguments.looksLikeOption(text) else {
                words.append(word)
                continue
            }
            let (name, attached) = Arguments.parts(word, known)
            guard let option = known.first(where: { $0.name == name || $0.short == name }) else {
                let nearest = NearestName.suggestion(
                    for: name, among: (verb.map { $0.options + Verb.common } ?? known).map(\.name))
                throw .usage(
                    "unknown option \(TerminalText.safe(name))" + (nearest.map { "; did you mean \($0)?" } ?? ""),
                    verb: verb?.name)
            }
            var value = Word(bytes: [])
            if let meaning = option.value {
                if let attached {
                    value.bytes = attached
                } else if let following = rest.popFirst() {
                    value = following
                } else {
                    throw .usage("\(option.name) needs a value: \(option.name) \(meaning)", verb: verb?.name)
                }
            } else if attached != nil {
                throw .usage("\(option.name) takes no value", verb: verb?.name)
            }
            guard option.value == nil || option.mayRepeat || options[option.name] == nil else {
                throw .usage("\(option.name) is given twice", verb: verb?.name)
            }
            options[option.name, default: []].append(value)
        }
    }

    /// The verb, if it stands before the present argument.
    private var verb: Verb? { words.first.flatMap { Verb.named($0.text) } }

    /// Name of an option, and the value attached to it: `--format=X` or `-fX`.
    private static func parts(_ word: Word, _ known: [Option]) -> (name: String, attached: [UInt8]?) {
        let text = word.text
        if text.hasPrefix("--") {
            guard let equals = word.bytes.firstIndex(of: UInt8(ascii: "=")) else { return (text, nil) }
            return (String(decoding: word.bytes[..<equals], as: UTF8.self), Array(word.bytes[(equals + 1)...]))
        }
        let short = String(text.prefix(2))
        guard word.bytes.count > 2, known.contains(where: { $0.short == short && $0.value != nil }) else {
            return (text, nil)
        }
        return (short, Array(word.bytes[2...]))
    }

    private static func looksLikeOption(_ text: String) -> Bool {
        guard text.hasPrefix("-"), let second = text.dropFirst().first else { return false }
        return !(("0"..."9").contains(second) || second == ".")
    }
}
