import ControlProtocol
import NowPlayingClient

/// One step of the chain from the file to the ear: what was found, what it means, what to type.
struct Finding {
    /// Severity of a finding; a fault prevents sound or access.
    enum Level: String, CaseIterable {
        case ok, note, warning, fault
    }

    /// The step's name, which never changes: `daemon`, `rights`, …
    var check: String
    var level: Level
    /// For people; safe for a terminal.
    var found: String
    var meaning: String?
    /// Command or action that helps.
    var action: String?

    /// A finding, by its parts.
    init(_ check: String, _ level: Level, _ found: String, meaning: String? = nil, action: String? = nil) {
        self.check = check
        self.level = level
        self.found = found
        self.meaning = meaning
        self.action = action
    }

    /// A path or a name as one word of a command for a shell, in quotes where it needs them; safe for a terminal.
    static func word(_ text: String) -> String {
        let shown = TerminalText.safe(text)
        let isPlain = shown.utf8.allSatisfy { byte in
            byte >= 0x80 || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "/._-+,:@%=".utf8.contains(byte)
        }
        return isPlain && !shown.isEmpty ? shown : Completion.quoted(shown)
    }

    /// For `--json`.
    var json: JSONValue {
        var result = JSONObject([
            .init("check", .string(check)), .init("level", .string(level.rawValue)), .init("found", .string(found)),
        ])
        if let meaning { result["meaning"] = .string(meaning) }
        if let action { result["action"] = .string(action) }
        return .object(result)
    }

    /// As lines of text.
    func lines(_ output: Output) -> [String] {
        let (word, style): (String, Output.Style) =
            switch level {
            case .ok: ("ok", .green)
            case .note: ("note", .dim)
            case .warning: ("warning", .yellow)
            case .fault: ("fault", .red)
            }
        let indent = String(repeating: " ", count: 23)
        let first =
            output.styled(word, style) + String(repeating: " ", count: 9 - word.count) + check
            + String(repeating: " ", count: max(1, 14 - check.count)) + found
        return [first] + [meaning, action.map { "→ " + $0 }].compactMap { $0 }.map { indent + $0 }
    }
}
