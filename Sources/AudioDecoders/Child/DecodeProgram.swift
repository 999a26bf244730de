import AudioCore
import CLinux
import ChildDecoding
import Glibc
import LinuxSystem
import Synchronization

/// nowplaying-decode, the program of this project for formats that this process does not decode. It runs confined.
package enum DecodeProgram {
    /// Its name.
    package static let name = "nowplaying-decode"

    /// Its absolute path; nil: it is not installed.
    package static let path = find(name)

    /// Absolute path of a program of ours: beside this program, or where `make install` puts it. Nil: it is not installed.
    package static func find(_ name: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count - 1)
        guard count > 0 else { return nil }
        let own = String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { return nil }
        let folder = own[..<slash]
        return ["\(folder)/\(name)", "\(folder)/../libexec/nowplayingd/\(name)"].first { access($0, X_OK) == 0 }
    }

    /// Programs that have started; a library that is there stays there.
    private static let started = Mutex<Set<String>>([])

    /// Starts `program` for a moment. True: the system finds all of its libraries. Blocks for milliseconds, 3 s at most.
    package static func starts(_ program: String) -> Bool {
        if started.withLock({ $0.contains(program) }) { return true }
        guard let process = try? ChildProcess.start(program, ["--version"], descriptors: []),
            process.exitStatus(within: 3) == 0
        else { return false }
        started.withLock { _ = $0.insert(program) }
        return true
    }

    /// Remedy for a missing nowplaying-decode, as text.
    package static let howToGet =
        "this build has no nowplaying-decode: install the development packages of FFmpeg, libcurl, libebur128 and "
        + "libseccomp and build again (“make build” names them)"

    /// A running child, and our ends of the socket and the pipe to it.
    struct Child {
        let process: ChildProcess
        /// Socket for requests. Does not block.
        let orders: OwnedDescriptor
        /// Pipe of its answers.
        let answers: OwnedDescriptor
    }

    /// Bytes of audio that a child may decode ahead: about one refill of the sound server, so that neither waits for
    /// the other. Any user may have a pipe of this size.
    private static let aheadBytes: Int32 = 1 << 20

    /// Starts `program`, in place of nowplaying-decode, to decode; its answers come through a pipe. `file`: the open
    /// file; nil: the child uses the network. Throws `.unavailable`.
    static func start(
        _ program: String?, file: Int32?, _ request: OpenRequest
    ) throws(DecodingError) -> Child {
        var ends: [Int32] = [-1, -1]
        guard linux_pipe(&ends) == 0 else { throw isOutOfDescriptors }
        let answers = OwnedDescriptor(ends[0])
        defer { close(ends[1]) }
        // A user with many pipes gets a smaller pipe, and the child waits more often.
        _ = linux_set_pipe_size(ends[1], aheadBytes)
        let (process, socket) = try start(program, file: file, answers: ends[1], .open, request.bytes)
        return Child(process: process, orders: socket, answers: answers)
    }

    /// Starts `program` for an order about pictures: orders and answers use one socket. Throws `.unavailable`.
    static func start(
        _ program: String?, file: Int32?, _ request: PictureRequest
    ) throws(DecodingError) -> (process: ChildProcess, socket: OwnedDescriptor) {
        try start(program, file: file, answers: nil, .look, request.bytes)
    }

    /// Starts `program` to measure the loudness of an open file: orders and answers use one socket. Throws `.unavailable`.
    static func startMeasuring(
        _ program: String?, file: Int32
    ) throws(DecodingError) -> (process: ChildProcess, socket: OwnedDescriptor) {
        try start(program, file: file, answers: nil, .measure, OpenRequest().bytes)
    }

    private static func start(
        _ program: String?, file: Int32?, answers: Int32?, _ kind: WireMessage, _ body: [UInt8]
    ) throws(DecodingError) -> (process: ChildProcess, socket: OwnedDescriptor) {
        guard let program else { throw DecodingError(.unavailable, howToGet) }
        var ends: [Int32] = [-1, -1]
        guard linux_socket_pair(&ends) == 0 else { throw isOutOfDescriptors }
        let socket = OwnedDescriptor(ends[0])
        defer { close(ends[1]) }
        do throws(SystemError) {
            let process = try ChildProcess.start(
                program, [file == nil ? "network" : "file", String(getpid())],
                descriptors: [ends[1], answers ?? ends[1]] + (file.map { [$0] } ?? []))
            let message = kind.header(count: body.count) + body
            // The first message always fits into an empty socket.
            guard send(socket.number, message, message.count, Int32(MSG_NOSIGNAL)) == message.count else {
                throw SystemError("write to \(name)")
            }
            return (process, socket)
        } catch {
            throw DecodingError(.unavailable, "cannot start \(name): \(error.message)")
        }
    }

    private static var isOutOfDescriptors: DecodingError {
        DecodingError(.unavailable, "the daemon is out of file descriptors")
    }
}
