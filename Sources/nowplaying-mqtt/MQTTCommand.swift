import ControlProtocol
import NowPlaying
import NowPlayingClient

/// Command of a message on the command topic: a JSON-RPC request, or a word with at most one argument.
struct MQTTCommand: Equatable {
    var method: String
    var parameters: JSONValue
    /// The request's `id`; nil: it expects no answer.
    var id: JSONValue?

    /// Reason why a command is not carried out, in words.
    struct Refusal: Error, Equatable {
        /// Number of the error in the control protocol.
        var code: Int
        var message: String
        var id: JSONValue?
    }

    /// Bytes of a message, at most.
    static let maximumBytes = 64 << 10

    /// Reads a message. `state`: the last one, for words that toggle a mode.
    init(_ payload: [UInt8], state: StateView?) throws(Refusal) {
        guard payload.count <= MQTTCommand.maximumBytes else {
            throw Refusal(code: -32600, message: "the command has more than \(MQTTCommand.maximumBytes) bytes")
        }
        let first = payload.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            try self.init(json: payload)
        } else {
            guard let text = String(validating: payload, as: UTF8.self) else {
                throw Refusal(code: -32700, message: "the command is not UTF-8")
            }
            try self.init(words: text, state)
        }
    }

    private init(json: [UInt8]) throws(Refusal) {
        let request: JSONValue
        do throws(JSONError) { request = try JSONReader.read(json) } catch {
            throw Refusal(code: -32700, message: "invalid JSON in a command: \(error.message)")
        }
        guard case .object = request, let method = request["method"]?.stringValue else {
            throw Refusal(
                code: -32600,
                message: "a command is one JSON-RPC request, an object with “method”, or a word; not a batch")
        }
        id = request["id"]
        guard let row = Catalogue.table.method(method) else {
            let error = Catalogue.table.unknownMethod(method)
            throw Refusal(code: error.code, message: error.message, id: id)
        }
        guard row.reach.includesBroker else {
            throw Refusal(code: 403, message: "“\(method)” is not available through the broker", id: id)
        }
        switch request["params"] {
        case .object?, nil: break
        case .array?: throw Refusal(code: -32602, message: "“params” must be an object, not an array", id: id)
        default: throw Refusal(code: -32600, message: "“params” must be an object", id: id)
        }
        let parameters = request["params"] ?? [:]
        // The session would belong to the bridge, which answers no requests and outlives the client.
        if method == "session.create", parameters["external"] == true || parameters["whileConnected"] == true {
            throw Refusal(
                code: 403, message: "a session that ends with its connection is not available through the broker",
                id: id
            )
        }
        self.method = method
        self.parameters = parameters
    }

    private init(words text: String, _ state: StateView?) throws(Refusal) {
        let parts = text.split(maxSplits: 1, whereSeparator: \.isWhitespace).map(String.init)
        guard let word = parts.first else { throw Refusal(code: -32600, message: "the command is empty") }
        var argument = parts.count > 1 ? parts[1] : nil
        while argument?.last?.isWhitespace == true { argument?.removeLast() }
        if argument == "" { argument = nil }
        guard let found = MQTTCommand.of(word, argument, state) else {
            throw MQTTCommand.refusal(of: word, hasArgument: argument != nil)
        }
        (method, parameters) = found
        id = nil
    }

    /// The refusal of an unknown word, with the valid forms.
    private static func refusal(of word: String, hasArgument: Bool) -> Refusal {
        let forms = words.filter { $0.split(separator: " ").first == word[...] }
        let shown = "“\(word.prefix(64))”"
        let what =
            forms.isEmpty
            ? "unknown command \(shown)" : hasArgument ? "invalid argument for \(shown)" : "\(shown) needs an argument"
        let expected = forms.isEmpty ? "one of: " + words.joined(separator: ", ") : forms.joined(separator: " or ")
        return Refusal(code: forms.isEmpty ? -32601 : -32602, message: "\(what) (expected \(expected))")
    }

    /// Our words and those of shairport-sync's `remote` topic.
    static let words =
        ["play [URI]", "playresume"] + plain.keys.sorted()
        + [
            "beginff", "beginrew", "endff", "endrew", "shuffle_songs", "volumeup", "volumedown", "mutetoggle", "mute",
            "unmute", "volume 0…1", "seek SECONDS", "skip SECONDS", "add URI", "announce URI",
        ] + opinions.keys.sorted().map { $0 + " [undo]" } + ["rating 0…5", "rate FACTOR"]
        + modes.map { $0.word + " " + $0.choices.joined(separator: "|") }
        + ["sleep SECONDS", "sleep end-of-item", "sleep off", "session NAME"]

    private static let plain = methods(of: .plain)
    private static let opinions = methods(of: .opinion)
    private static let modes = RemoteCommand.modes.compactMap(\.mode)

    /// Names of the commands of a form, by their words.
    private static func methods(of form: RemoteCommand.Form) -> [String: String] {
        let commands = RemoteCommand.allCases.filter { $0.traits.form == form }
        let pairs = commands.flatMap { command in command.traits.words.map { ($0, command.rawValue) } }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private static func of(_ word: String, _ argument: String?, _ state: StateView?) -> (String, JSONValue)? {
        if let argument { return of(word, argument) }
        if let method = plain[word] ?? opinions[word] { return (method, [:]) }
        return switch word {
        case "play", "playresume": ("play", [:])
        case "beginff": ("seekForward", ["phase": "begin"])
        case "beginrew": ("seekBackward", ["phase": "begin"])
        case "endff": ("seekForward", ["phase": "end"])
        case "endrew": ("seekBackward", ["phase": "end"])
        case "shuffle_songs": ("queue.shuffle", [:])
        case "volumeup": ("volume.set", ["step": 0.05])
        case "volumedown": ("volume.set", ["step": -0.05])
        case "mutetoggle": ("volume.set", ["muted": .bool(!(state?.isMuted ?? false))])
        case "mute": ("volume.set", ["muted": true])
        case "unmute": ("volume.set", ["muted": false])
        default: nil
        }
    }

    private static func of(_ word: String, _ argument: String) -> (String, JSONValue)? {
        let isNegative = argument.hasPrefix("-")
        let number = ClockText.decimal(isNegative ? String(argument.dropFirst()) : argument)
        if let method = opinions[word] { return argument == "undo" ? (method, ["active": false]) : nil }
        if let command = RemoteCommand.allCases.first(where: { $0.mode?.word == word }) {
            return (command.rawValue, ["mode": .string(argument)])
        }
        switch (word, number) {
        case ("play", _), ("announce", _): return (word, ["uri": .string(argument)])
        case ("add", _): return ("queue.add", ["items": [.string(argument)]])
        case ("session", _): return ("session.activate", ["name": .string(argument)])
        case ("sleep", nil) where argument == "off": return ("sleep.set", ["after": 0])
        case ("sleep", nil) where argument == "end-of-item": return ("sleep.set", ["endOf": "item"])
        case ("sleep", let value?) where !isNegative: return ("sleep.set", ["after": .number(value)])
        case ("rating", let value?) where !isNegative: return ("rating", ["rating": .number(value)])
        case ("rate", let value?) where !isNegative: return ("changePlaybackRate", ["rate": .number(value)])
        case ("volume", let value?) where !isNegative: return ("volume.set", ["volume": .number(value)])
        case ("seek", let value?) where !isNegative: return ("changePlaybackPosition", ["position": .number(value)])
        case ("skip", let value?):
            return (isNegative ? "skipBackward" : "skipForward", ["interval": .number(value)])
        default: return nil
        }
    }
}
