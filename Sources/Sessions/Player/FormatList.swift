import AudioDecoders
import ControlProtocol

/// The formats that the daemon knows, for clients.
enum FormatList {
    /// Result of `formats.list`.
    static var answer: JSONValue {
        let formats = FormatSupport.all.map { format in
            JSONValue.object(
                JSONObject([
                    JSONObject.Member("name", .string(format.name)),
                    JSONObject.Member("endings", .array(format.endings.map { .string($0) })),
                    JSONObject.Member("plays", .bool(format.plays)),
                    JSONObject.Member("package", .string(format.package)),
                ]))
        }
        return ["formats": .array(formats)]
    }
}
