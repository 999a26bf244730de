import AudioCore
import CLinux
import ForeignMedia
import Glibc
import LinuxSystem

/// The program that decodes what we do not: it is one of ours, and runs confined.
package enum ForeignProgram {
    /// Its name.
    package static let name = "nowplaying-decode"

    /// Its absolute path: beside this program, or where `make install` puts it. Nil: it is not installed.
    package static let path: String? = {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count - 1)
        guard count > 0 else { return nil }
        let own = String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { return nil }
        let folder = own[..<slash]
        return ["\(folder)/\(name)", "\(folder)/../libexec/nowplayingd/\(name)"].first { access($0, X_OK) == 0 }
    }()

    /// What to do where it is missing, for people.
    package static let howToGet =
        "this build has no nowplaying-decode: install FFmpeg's, libcurl's and libseccomp's development packages and build "
        + "again (“make build” names them)"

    /// Starts `program`, which stands for it. `file`: the open file that it is to decode; nil: it is to use the network. Our end of the socket to it
    /// does not block. Throws `.unavailable`.
    static func start(
        _ program: String?, file: Int32?, _ request: OpenRequest
    ) throws(DecodingError) -> (process: ChildProcess, socket: OwnedDescriptor) {
        try start(program, file: file, .open, request.bytes)
    }

    /// The same with another first message.
    static func start(
        _ program: String?, file: Int32?, _ kind: WireMessage, _ body: [UInt8]
    ) throws(DecodingError) -> (process: ChildProcess, socket: OwnedDescriptor) {
        guard let program else { throw DecodingError(.unavailable, howToGet) }
        var ends: [Int32] = [-1, -1]
        guard linux_socket_pair(&ends) == 0 else {
            throw DecodingError(.unavailable, "the daemon is out of file descriptors")
        }
        let socket = OwnedDescriptor(ends[0])
        defer { close(ends[1]) }
        do throws(SystemError) {
            let process = try ChildProcess.start(
                program, [file == nil ? "network" : "file", String(getpid())],
                descriptors: [ends[1]] + (file.map { [$0] } ?? []))
            let message = kind.header(count: body.count) + body
            // The first of all, it fits.
            guard send(socket.number, message, message.count, Int32(MSG_NOSIGNAL)) == message.count else {
                throw SystemError("write to \(name)")
            }
            return (process, socket)
        } catch {
            throw DecodingError(.unavailable, "\(name) can't be started: \(error.message)")
        }
    }
}
