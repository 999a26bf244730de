import CLinux
import Glibc
import LinuxSystem

/// The control socket itself: bytes and open files as they come in messages of the kernel.
extension FuzzTarget {
    /// Messages to a control server. Each begins with how many files go with it, in how many headers, and how many bytes
    /// it has (two bytes, the lower first).
    static let socket = FuzzTarget(
        name: "socket",
        seeds: {
            func message(_ files: UInt8, _ headers: UInt8, _ text: String) -> [UInt8] {
                let bytes = Array(text.utf8)
                return [files, headers, UInt8(bytes.count & 0xFF), UInt8(bytes.count >> 8)] + bytes
            }
            let play = #"{"jsonrpc":"2.0","id":1,"method":"play","params":{"descriptor":0,"uri":"x"}}"#
            let add = #"{"jsonrpc":"2.0","id":2,"method":"queue.add","params":{"items":[{"descriptor":15},"/a"]}}"#
            return [
                message(1, 1, play + "\n"), message(20, 1, add + "\n"), message(16, 3, "[" + add + "," + play + "]\n"),
                message(2, 1, String(play.prefix(20))) + message(3, 2, String(play.dropFirst(20)) + "\n"),
                message(0, 0, "\n\n") + message(1, 1, "\n") + message(0, 0, play + "\n"),
                message(1, 9, #"{"jsonrpc":"2.0","method":"nowPlaying.subscribe"}"# + "\n" + add),
            ]
        },
        run: { bytes in
            let client = HostileClient()
            var rest = bytes[...]
            while rest.count >= 4 {
                let head = Array(rest.prefix(4))
                let text = Array(rest.dropFirst(4).prefix(Int(head[2]) | Int(head[3]) << 8))
                rest = rest.dropFirst(4 + text.count)
                guard !text.isEmpty else { continue }
                guard client.send(text, files: Int(head[0] % 40), headers: Int(head[1] % 8)) else { break }
            }
            client.leave()
        })
}

/// A connection to the server of the fuzzer, which hands over open files.
private final class HostileClient {
    private static let folder = open("/", O_RDONLY | O_CLOEXEC)
    private static let file = linux_memory_file("fuzz")

    private let connection: Int32
    /// A pipe whose writing end the daemon gets. The reading end shows when no process has the writing end open any more.
    private let pipe: (reading: Int32, writing: Int32)

    init() {
        guard let connection = try? UnixSocket.connect(FuzzServer.shared.path) else {
            preconditionFailure("nobody listens")
        }
        self.connection = connection
        var ends: [Int32] = [-1, -1]
        precondition(linux_pipe(&ends) == 0)
        pipe = (ends[0], ends[1])
    }

    /// Sends a message with so many files in so many headers; false: the server takes nothing more.
    func send(_ bytes: [UInt8], files: Int, headers: Int) -> Bool {
        let files = (0..<files).map { [pipe.writing, Self.file, Self.folder][$0 % 3] }
        var control: [UInt8] = []
        if !files.isEmpty, headers > 0 {
            let part = (files.count + headers - 1) / headers
            for start in stride(from: 0, to: files.count, by: part) {
                let files = files[start..<min(start + part, files.count)]
                withUnsafeBytes(of: 16 + files.count * 4) { control += $0 }
                withUnsafeBytes(of: (Int32(SOL_SOCKET), Int32(0x01))) { control += $0 }
                for file in files { withUnsafeBytes(of: file) { control += $0 } }
                control += [UInt8](repeating: 0, count: files.count % 2 * 4)
            }
        }
        var bytes = bytes
        return bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    if control.count > 0 {
                        message.msg_control = control.baseAddress
                        message.msg_controllen = control.count
                    }
                    return sendmsg(connection, &message, Int32(MSG_NOSIGNAL)) == bytes.count
                }
            }
        }
    }

    /// Closes the sending side, takes the answers, and returns when the server has read everything and closed every file: the
    /// last message passes one more file.
    func leave() {
        _ = send([0x0A], files: 1, headers: 1)
        shutdown(connection, Int32(SHUT_WR))
        close(pipe.writing)
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            var waiting = [
                pollfd(fd: connection, events: Int16(POLLIN), revents: 0),
                pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0),
            ]
            precondition(poll(&waiting, 2, 20_000) >= 1, "a file that was handed over stays open")
            if waiting[1].revents != 0 { break }
            let got = recv(connection, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if got < 0, errno == EAGAIN || errno == EINTR { continue }
            guard got <= 0 else { continue }
            precondition(poll(&waiting[1], 1, 20_000) == 1, "a file that was handed over stays open")
            break
        }
        close(connection)
        close(pipe.reading)
    }
}
