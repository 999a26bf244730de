import CLinux
import ControlProtocol
import ControlServer
import Glibc
import LinuxSystem
import TrackDatabase

/// Answer of a reader. On a worker thread.
enum ReadAnswer {
    /// JSON text.
    case json([UInt8])
    /// Tracks as text, for the client in an open file.
    case text(TrackText)

    /// The result for the client, or the system's refusal of memory.
    var result: Result<MethodResult, RPCError> {
        switch self {
        case .json(let bytes): return .success(.encoded(bytes))
        case .text(let text):
            do throws(SystemError) {
                var members = JSONObject([
                    .init("count", .integer(Int64(text.count))), .init("bytes", .integer(Int64(text.bytes.count))),
                    .init("descriptor", 0),
                ])
                members["ends"] = text.ends.map { .array($0.map { .integer(Int64($0)) }) }
                members["next"] = text.next.map { .string($0) }
                members["version"] = .integer(text.version)
                return .success(.withDescriptor(.object(members), try Self.file(text.bytes)))
            } catch {
                return .failure(.commandFailed(.unavailable, error.message))
            }
        }
    }

    /// A file in memory with these bytes, sealed against changes.
    private static func file(_ bytes: [UInt8]) throws(SystemError) -> OwnedDescriptor {
        let descriptor = linux_sealable_file("nowplaying-library-text")
        guard descriptor >= 0 else { throw SystemError("make a text in memory") }
        let file = OwnedDescriptor(descriptor)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(file.number, $0.baseAddress.map { $0 + done }, bytes.count - done, off_t(done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError("write a text into memory") }
            done += count
        }
        guard linux_seal(file.number) == 0 else { throw SystemError("seal a text in memory") }
        return file
    }
}
