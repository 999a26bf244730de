import ControlProtocol
import Glibc
import TestSupport
import Testing

/// Findings of `doctor` about the library, each fault of which is made in turn.
@Suite(.timeLimit(.minutes(8))) struct DoctorLibraryTests {
    private let folder = TemporaryFolder()

    /// The findings about a library that answers like this.
    private func findings(_ answer: FakeDaemon.Reply?) throws -> [JSONValue] {
        let socket = folder.path("control.sock")
        let daemon = FakeDaemon(socket) { method, _ in
            switch method {
            case "hello": .result(["version": "1", "role": "admin"])
            case "nowPlaying.get": .result(Sample.state())
            case "commands.list": .result(["commands": []])
            default: .error(-32601, "there is no method", [:])
            }
        }
        defer { daemon.stop() }
        let library = answer.map { answer in FakeDaemon(folder.path("library.sock")) { _, _ in answer } }
        defer { library?.stop() }
        let outcome = Tool.run(["doctor", "--json"], socket: socket)
        let all = try JSONReader.read(outcome.output)["findings"]?.arrayValue ?? []
        return all.filter { $0["check"] == "library" }
    }

    private static let root: JSONValue = ["name": "Music", "path": "/srv/music", "mode": "watched"]

    private static func status(_ changes: [String: JSONValue]) -> FakeDaemon.Reply {
        var status = JSONObject([
            .init("tracks", 5), .init("roots", [root]), .init("scan", .null), .init("faultCount", 0),
            .init("faults", []),
        ])
        for (name, value) in changes { status[name] = value }
        return .result(.object(status))
    }

    private func expect(_ answer: FakeDaemon.Reply?, _ level: String, _ words: String) throws {
        let found = try findings(answer)
        #expect(found.count == 1 && found[0]["level"]?.stringValue == level, "\(found)")
        #expect(found.contains { JSONWriter.text($0).contains(words) }, "\(found)")
    }

    @Test func none() throws { try expect(nil, "ok", "systemctl --user enable --now nowplaying-library") }

    @Test func inOrder() throws { try expect(Self.status([:]), "ok", "5 tracks") }

    @Test(arguments: [
        (
            "roots", #"[{"name":"U","path":"/media/u","mode":"missing","reason":"gone\u001b"}]"#, "warning",
            "mount /media/u"
        ),
        (
            "roots", #"[{"name":"U","path":"/my disk","mode":"missing"}]"#, "warning",
            "findmnt '/my disk'; mount '/my disk'"
        ),
        ("roots", #"[{"name":"U","path":"/n","mode":"walked","reason":"a network share"}]"#, "note", "a network share"),
        (
            "roots", #"[{"name":"U","path":"/n","mode":"walked","reason":"fs.inotify.max_user_watches is reached"}]"#,
            "warning", "sysctl --system"
        ),
        ("roots", "[]", "warning", "folders in [library]"),
        ("faults", #"[{"uri":"file:///m/a%0Ab.mp3","reason":"the reader crashed"}]"#, "warning", "the reader crashed"),
        (
            "faults", #"[{"uri":"file:///m/out","reason":"the link leads out of the library; add /x to folders"}]"#,
            "note", "out: the link leads out of the library"
        ),
        ("faultCount", "700", "warning", "700 files"),
        ("scan", #"{"phase":"read","done":5,"total":50,"rate":10,"timeLeft":4.5}"#, "note", "5 of 50 files, 10 %"),
        (
            "loudness", #"{"done":0,"total":9,"state":"unavailable","problem":"no nowplaying\u001b-decode"}"#,
            "warning",
            "the loudness of files without tags is not measured: no nowplaying\u{FFFD}-decode"
        ),
        (
            "loudness", #"{"done":0,"total":9,"state":"unavailable"}"#, "warning",
            "Scripts/packages decode && make install; systemctl --user restart nowplaying-library"
        ),
        ("loudness", #"{"done":0,"total":9,"state":"waiting","failed":0}"#, "ok", "5 tracks"),
        ("problems", #"[{"reason":"diskFull","message":"the disk is full"}]"#, "fault", "the disk is full"),
    ])
    func oneThingIsWrong(name: String, value: String, level: String, words: String) throws {
        try expect(Self.status([name: try JSONReader.read(value)]), level, words)
    }

    @Test func withoutADaemon() throws {
        for isThere in [true, false] {
            let library = isThere ? FakeDaemon(folder.path("library.sock")) { _, _ in Self.status([:]) } : nil
            defer { library?.stop() }
            let outcome = Tool.run(["doctor", "--json"], socket: folder.path("control.sock"))
            let all = try JSONReader.read(outcome.output)["findings"]?.arrayValue ?? []
            #expect(outcome.status == 8 && all.map { $0["check"] } == ["daemon", "library"], "\(all)")
            #expect(JSONWriter.text(.array(all)).contains(isThere ? "5 tracks" : "no library runs"), "\(all)")
        }
    }

    @Test func refused() throws { try expect(.error(403, "you may not", [:]), "warning", "you may not") }

    @Test func itHangs() throws { try expect(.silence, "fault", "does not answer") }

    @Test func itHasEnded() throws {
        // A socket at which no process listens any more.
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: folder.path("library.sock").utf8) }
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        close(socket)
        try #require(bound == 0)
        try expect(nil, "fault", "restart nowplaying-library")
    }
}
