import ControlProtocol
import ControlServer
import LinuxSystem
import MediaAccess
import NowPlaying

/// The members of an answer about media that were left out; nothing without any. Made on a worker thread.
struct MissingMembers: Sendable {
    /// Members of an object as JSON text, without its braces; nil: nothing is missing.
    private let text: [UInt8]?

    /// The members for these media. Writes a line to the log if some are missing.
    init(_ found: FoundMedia) {
        guard let first = found.missing.first else {
            text = nil
            return
        }
        let members: JSONValue = [
            "missing": .array(found.missing.map(\.encoded)), "missingCount": .integer(Int64(found.missingCount)),
        ]
        text = Array(JSONWriter.text(members).utf8.dropFirst().dropLast())
        let shown = PrintableText.escaped(first.uri, limit: 200)
        Log.info(
            "left out \(found.missingCount) of \(found.missingCount + found.media.count) items: “\(shown)” is the first"
        )
    }

    /// The answer with these members.
    func added(to result: MethodResult) -> MethodResult {
        guard let text else { return result }
        let bytes: [UInt8]
        switch result {
        case .failure, .withDescriptor: return result
        case .success(let value): bytes = Array(JSONWriter.text(value).utf8)
        case .encoded(let encoded): bytes = encoded
        }
        guard bytes.last == UInt8(ascii: "}") else { return result }
        let separator = bytes.count > 2 ? [UInt8(ascii: ",")] : []
        return .encoded(bytes.dropLast() + separator + text + [UInt8(ascii: "}")])
    }
}
