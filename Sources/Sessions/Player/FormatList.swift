import AudioDecoders
import ControlProtocol
import ControlServer
import LinuxSystem

/// Answers `formats.list`.
@PlayerLoop final class FormatList {
    /// Threads that load the libraries.
    private let workers: Workers

    /// Looks at nothing yet.
    init(_ loop: EventLoop) { workers = Workers(loop, name: "formats") }

    /// Answers after the decoders were looked for.
    func list(_ answer: @escaping Answer) {
        workers.submit {
            FormatSupport.all().map { format in
                JSONValue.object(
                    JSONObject([
                        JSONObject.Member("name", .string(format.name)),
                        JSONObject.Member("endings", .array(format.endings.map { .string($0) })),
                        JSONObject.Member("plays", .bool(format.plays)),
                        JSONObject.Member("package", .string(format.package)),
                    ]))
            }
        } _: { formats in
            answer(.success(["formats": .array(formats)]))
        }
    }
}
