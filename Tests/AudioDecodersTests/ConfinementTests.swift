import AudioDecoders
import ChildDecoding
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Rights and resources of a child: next to nothing.
@Suite(.enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct ConfinementTests {
    private let folder = TemporaryFolder()

    /// A child over a socket of ours, asked to open something.
    private final class Child {
        let process: ChildProcess
        let socket: Int32

        init(_ arguments: [String], _ request: OpenRequest = OpenRequest(), file: Int32? = nil) throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            defer { close(ends[1]) }
            process = try ChildProcess.start(
                try #require(DecodeProgram.path), arguments,
                descriptors: [ends[1], ends[1]] + (file.map { [$0] } ?? []))
            socket = ends[0]
            let body = request.bytes
            let message = WireMessage.open.header(count: body.count) + body
            #expect(send(socket, message, message.count, 0) == message.count)
        }

        deinit { close(socket) }

        /// The first message that it sends.
        func answer() -> (kind: WireMessage, body: [UInt8])? {
            func take(_ count: Int) -> [UInt8]? {
                var bytes = [UInt8](repeating: 0, count: count)
                return recv(socket, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
            }
            guard let head = take(WireMessage.headerBytes), let (kind, count) = try? WireMessage.header(head),
                let body = take(count)
            else { return nil }
            return (kind, body)
        }
    }

    private func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    @Test("a child of a file can do nothing but read that; one of the network can connect, and start threads")
    func allowed() throws {
        for profile in ["file", "network"] {
            let child = try Child([profile, String(getpid()), "check"])
            let answer = try #require(child.answer())
            let words = try WireFailure(answer.body).message.dropFirst(9).split(separator: ", ").map(String.init)
            #expect(answer.kind == .failed)
            if profile == "file" {
                #expect(words == [])
            } else {
                // Without Landlock the kernel does not distinguish files.
                let files: Set = ["read a file", "look at a file"]
                #expect(Set(words).subtracting(files) == ["use the network", "start a thread"])
            }
        }
    }

    @Test("a child has no environment, no descriptors but its own, no new privileges, and limits")
    func inherited() throws {
        let path = folder.write(AudioMaterial.noise(frames: 1000).wave(), "a.wav")
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let child = try Child(["file", String(getpid())], file: file)
        #expect(child.answer()?.kind == .opened)
        let folder = "/proc/\(child.process.pid)"
        let status = text(folder + "/status").split(separator: "\n").map { $0.filter { $0 != "\t" && $0 != " " } }
        #expect(status.contains("Seccomp:2"))
        #expect(status.contains("NoNewPrivs:1"))
        #expect(status.contains("Threads:1"))
        let limits = text(folder + "/limits").split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        for limit in [
            "Max core file size 0 0 bytes", "Max file size 0 0 bytes", "Max open files 16 16 files",
            "Max cpu time 21600 21600 seconds", "Max address space 805306368 805306368 bytes",
        ] {
            #expect(limits.contains(limit), "\(limit)")
        }
        // Not dumpable: that is root's alone to see.
        var info = stat()
        #expect(stat(folder + "/environ", &info) == 0 && info.st_uid == 0)
        guard geteuid() == 0 else { return }
        #expect(text(folder + "/environ") == "")
        var places: [String] = []
        for number in 0..<64 {
            var bytes = [CChar](repeating: 0, count: 4096)
            let count = readlink("\(folder)/fd/\(number)", &bytes, bytes.count)
            guard count > 0 else { continue }
            let place = String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            places.append("\(number) \(place.prefix { $0 != ":" })")
        }
        #expect(places == ["0 /dev/null", "1 /dev/null", "2 /dev/null", "3 socket", "4 socket", "5 \(path)"])
    }

    @Test("nobody but its parent starts it, and it ends with the socket")
    func alone() throws {
        #expect(AudioMaterial.run(try #require(DecodeProgram.path), []) == 64)
        #expect(AudioMaterial.run(try #require(DecodeProgram.path), ["file", "1"]) == 64)
        let pid: Int32
        let process: ChildProcess
        do {
            let child = try Child(["network", String(getpid())])
            process = child.process
            pid = process.pid
        }
        #expect(becomes { text("/proc/\(pid)/stat").split(separator: " ").dropFirst(2).first ?? "Z" == "Z" })
    }

    @Test("on a kernel without seccomp nothing is opened, and the words say why")
    func withoutSeccomp() throws {
        // A filter that takes seccomp away, and then the program: its parent stays ours.
        let program = folder.write(
            Array(
                """
                #!/usr/bin/env -S PATH=/usr/bin:/bin python3
                import ctypes, os, struct, sys
                number = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
                prctl = {"x86_64": 157, "aarch64": 167}[os.uname().machine]
                def rule(code, yes, no, value): return struct.pack("HBBI", code, yes, no, value)
                # The number of the call: seccomp(2) and prctl(PR_SET_SECCOMP) are refused as if they were not there.
                rules = rule(0x20, 0, 0, 0) + rule(0x15, 3, 0, number) + rule(0x15, 0, 3, prctl) \\
                    + rule(0x20, 0, 0, 16) + rule(0x15, 0, 1, 22) + rule(6, 0, 0, 0x50000 | 38) + rule(6, 0, 0, 0x7fff0000)
                buffer = ctypes.create_string_buffer(rules)
                program = struct.pack("HxxxxxxP", len(rules) // 8, ctypes.addressof(buffer))
                libc = ctypes.CDLL(None)
                assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
                os.execve("\(try #require(DecodeProgram.path))", sys.argv, {})
                """.utf8), "child")
        chmod(program, 0o700)
        let path = folder.write(AudioMaterial.noise(frames: 1000).wave(), "a.wav")
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let decoder = try ChildDecoder(file: file, program: program)
        let error = #expect(throws: (any Error).self) { try decoder.awaitOpening() }
        #expect("\(error.map { "\($0)" } ?? "")".contains("no seccomp"))
    }
}
