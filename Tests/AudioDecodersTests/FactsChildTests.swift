import AudioCore
import AudioDecoders
import CLinux
import ChildDecoding
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// nowplaying-tags, and programs in its place: facts of files, rights, and limits on the cost of a file.
@Suite struct FactsChildTests {
    private let folder = TemporaryFolder()

    private func tagged(_ name: String, frames: Int = 44_100) -> String {
        var options = FLACOptions()
        options.blocks = [
            AudioMaterial.vorbisComments(["TITLE=Eins", "ARTIST=Jemand", "ALBUM=Platte"].map { Array($0.utf8) })
        ]
        return folder.write(AudioMaterial.waves(frames: frames, sampleRate: 44_100).flac(options), name)
    }

    private func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    @Test("one child reads file after file as the decoders do, and is gone after the last")
    func facts() throws {
        let child = FactsChild()
        defer { child.end() }
        let path = tagged("a.flac")
        guard case .found(let facts) = child.read(try MediaFile(path: path), .whole) else {
            Issue.record("nothing was found")
            return
        }
        #expect(facts.metadata.title == "Eins" && facts.metadata.artist == "Jemand" && facts.duration == 1)
        #expect(
            facts.format
                == MediaFormat(
                    codec: "FLAC", sampleRate: 44_100, channels: facts.format?.channels ?? 0,
                    bitsPerSample: facts.format?.bitsPerSample))
        let pid = try #require(child.process)
        var files = [path]
        files.append(folder.write(AudioMaterial.noise(frames: 1000).wave(), "b.wav"))
        for path in files {
            var own = FileFacts(of: try DecoderRegistry.openDecoder(path: path))
            // The wire has microseconds.
            own.duration = own.duration.map { ($0 * 1_000_000).rounded() / 1_000_000 }
            #expect(child.read(try MediaFile(path: path), .whole) == .found(own))
        }
        for (name, bytes) in [
            ("empty", []), ("text", Array("words".utf8)), ("zeros", [UInt8](repeating: 0, count: 9999)),
        ] {
            let path = folder.write(bytes, name)
            guard case .refused(let error) = child.read(try MediaFile(path: path), .listed) else {
                Issue.record("\(name) is not refused")
                continue
            }
            #expect(error.kind == .notRecognised && !error.message.isEmpty)
        }
        // The head of an M4A.
        let foreign = folder.write(
            [0, 0, 0, 0x20] + Array("ftypM4A ".utf8) + [UInt8](repeating: 0, count: 99), "c.m4a")
        #expect(child.read(try MediaFile(path: foreign), .listed) == .isForeign)
        #expect(child.process == pid)
        child.end()
        #expect(becomes { access("/proc/\(pid)", F_OK) != 0 })
        #expect(child.process == nil)
    }

    @Test("the child has the lowest priority, no rights but reading what it is given, and limits")
    func confined() throws {
        let child = FactsChild()
        defer { child.end() }
        _ = child.read(try MediaFile(path: tagged("a.flac")), .listed)
        let place = "/proc/\(try #require(child.process))"
        let status = text(place + "/status").split(separator: "\n").map { $0.filter { $0 != "\t" && $0 != " " } }
        for line in ["Seccomp:2", "NoNewPrivs:1", "Threads:1"] { #expect(status.contains(line), "\(line)") }
        let fields = text(place + "/stat").split(separator: ")").last?.split(separator: " ") ?? []
        #expect(fields.count > 16 && fields[16] == "19")
        let limits = text(place + "/limits").split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        for limit in [
            "Max core file size 0 0 bytes", "Max file size 0 0 bytes", "Max open files 32 32 files",
            "Max cpu time 3600 3600 seconds", "Max address space 536870912 536870912 bytes",
        ] { #expect(limits.contains(limit), "\(limit)") }
        var info = stat()
        #expect(stat(place + "/environ", &info) == 0 && info.st_uid == 0)
        // The files that it read are closed.
        guard geteuid() == 0, let listing = opendir(place + "/fd") else { return }
        defer { closedir(listing) }
        var count = 0
        while let entry = readdir(listing) { if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 } }
        #expect(count == 4)
    }

    @Test("what the sandbox must deny is denied")
    func denied() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        defer { close(ends[0]) }
        let program = try #require(FactsChild.path)
        let process = try ChildProcess.start(program, [String(getpid()), "check"], descriptors: [ends[1]])
        close(ends[1])
        let file = open(tagged("a.flac"), O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(hand(ends[0], file))
        var bytes = [UInt8](repeating: 0, count: 600)
        bytes.removeLast(bytes.count - max(0, recv(ends[0], &bytes, bytes.count, 0)))
        #expect(
            try FactsAnswer(bytes, .listed) == .refused(DecodingError(.unavailable, "allowed:")), "\(process.pid)")
    }

    private func hand(_ socket: Int32, _ file: Int32) -> Bool {
        let order = FactsOrder(.listed).bytes
        return linux_send(socket, order, order.count, [file], 1) == order.count
    }

    @Test("nobody but its parent starts it")
    func alone() throws {
        let program = try #require(FactsChild.path)
        #expect(AudioMaterial.run(program, []) == 64)
        #expect(AudioMaterial.run(program, ["1"]) == 64)
    }

    /// A child that does this in the shell with each order.
    private func standIn(_ body: String) -> String {
        let path = folder.write(Array("#!/bin/bash\nexport PATH=/usr/bin:/bin\n\(body)\n".utf8), "child")
        chmod(path, 0o700)
        return path
    }

    @Test("a child that dies, lies or computes for ever costs the file; one that waits is a disk that hangs")
    func standIns() throws {
        let file = try MediaFile(path: tagged("a.flac"))
        let children: [(body: String, outcome: FactsChild.Outcome)] = [
            ("exit 1", .lost), ("head -c 8 <&3 >/dev/null; kill -9 $$", .lost),
            ("printf 'HTTP/1.1 200 OK' >&3; sleep 60", .lost),
            ("printf '\\x10\\0\\0\\0\\x02\\0\\0\\0\\x04\\0\\0' >&3; sleep 60", .lost),
            ("printf '\\x10\\0\\0\\0\\xFF\\xFF\\xFF\\x7F' >&3; sleep 60", .lost),
            ("while :; do :; done", .lost), ("exec sleep 60", .hung),
            ("printf '\\x11\\0\\0\\0\\0\\0\\0\\0' >&3; exec sleep 60", .isForeign),
        ]
        for (body, outcome) in children {
            let child = FactsChild(program: standIn(body), patience: 0.6)
            #expect(child.read(file, .listed) == outcome, "\(body)")
            child.end()
        }
        guard case .unavailable(let words) = FactsChild(program: nil).read(file, .listed) else {
            Issue.record("a program that is not there runs")
            return
        }
        #expect(words.contains("nowplaying-tags"))
        guard case .unavailable = FactsChild(program: folder.path("none")).read(file, .listed) else {
            Issue.record("a program that is not there runs")
            return
        }
    }

    @Test(
        "a decoding child that gets little processor time is awaited; one without any is a disk that hangs",
        .enabled(if: DecodeProgram.path != nil, "needs nowplaying-decode"))
    func starvedDecoder() throws {
        let path = folder.path("a.m4a")
        let wave = folder.write(AudioMaterial.noise(frames: 4410).wave(), "a.wav")
        try #require(AudioMaterial.run("ffmpeg", ["-v", "error", "-i", wave, "-c:a", "aac", path]) == 0)
        let real = try #require(DecodeProgram.path)
        let file = try MediaFile(path: path)
        func outcome(_ body: String) -> FactsChild.Outcome {
            FactsReading.readForeign(file, patience: 0.6, program: standIn(body))
        }
        // Two seconds with a little processor time now and then.
        let late = outcome("for ((n = 0; n < 20; n++)); do sleep 0.1; done; exec \(real) \"$@\"")
        guard case .found(let facts) = late else {
            Issue.record("\(late)")
            return
        }
        #expect(facts.format?.codec == "AAC")
        #expect(outcome("exec sleep 60") == .hung)
        #expect(outcome("while :; do :; done") == .lost)
        guard case .refused = outcome("exit 1") else {
            Issue.record("a child that ends is no refusal")
            return
        }
    }

    @Test("after a lost child the next file gets a new one")
    func nextChild() throws {
        let marker = folder.path("marker")
        let real = try #require(FactsChild.path)
        // The first dies; the second is the real one.
        let program = standIn("if [ -e \(marker) ]; then exec \(real) \"$@\"; fi; : > \(marker); exit 1")
        let child = FactsChild(program: program)
        defer { child.end() }
        let path = tagged("a.flac")
        #expect(child.read(try MediaFile(path: path), .listed) == .lost)
        guard case .found = child.read(try MediaFile(path: path), .listed) else {
            Issue.record("no new child")
            return
        }
    }

    @Test("answers that are cut, changed or of another length are refused, or within their bounds")
    func answers() throws {
        var facts = FileFacts(duration: 3)
        facts.metadata.title = "Eins"
        let all: [FactsAnswer] = [
            .found(facts), .isForeign, .refused(DecodingError(.broken, "it is broken")),
        ]
        for answer in all {
            let whole = answer.bytes(.listed)
            #expect(try FactsAnswer(whole, .listed) == answer)
            for count in whole.indices { #expect(throws: WireError.self) { try FactsAnswer(whole[..<count], .listed) } }
            #expect(throws: WireError.self) { try FactsAnswer(whole + [0], .listed) }
            for place in whole.indices {
                for value: UInt8 in [0, 1, 16, 17, 18, 19, 127, 128, 255] {
                    var bytes = whole
                    bytes[place] = value
                    guard case .refused(let error)? = try? FactsAnswer(bytes, .listed) else { continue }
                    #expect(error.message.utf8.count <= 512)
                }
            }
        }
        for order in [FactsOrder(.listed), FactsOrder(.whole)] { #expect(try FactsOrder(order.bytes) == order) }
        for bytes: [UInt8] in [
            [], [1], [3, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0, 0, 0],
        ] {
            #expect(throws: WireError.self) { try FactsOrder(bytes) }
        }
    }
}
