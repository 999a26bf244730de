import ControlProtocol
import Glibc
import TestSupport
import Testing

/// Commands of other users: the bridge judges them by its own rights, and the daemon by those of that user.
@Suite(.timeLimit(.minutes(5)), .serialized, .enabled(if: geteuid() == 0, "only root can become other users"))
struct CallerTests {
    private static let nobody = "65534"
    private let folder = TemporaryFolder()

    /// Lines that the bridge answers to another user.
    private func ask(_ house: MPDHouse, _ lines: [String]) async -> [String] {
        let text = lines.joined(separator: "\n") + "\nclose\n"
        let words = [
            "setpriv", "--reuid", Self.nobody, "--regid", Self.nobody, "--clear-groups", "sh", "-c",
            "printf '%s' \"$1\" | nc -U -N -w 10 \"$2\"", "sh", text, house.socket,
        ]
        let process = await LoopThread.run { TestProcess(words, output: true) }
        let output = process.readAll()
        process.wait()
        return output.split(separator: "\n").dropFirst().map(String.init)
    }

    private func house(_ settings: String = "") async -> MPDHouse {
        chmod(folder.path, 0o755)
        return await MPDHouse.start(
            "password = orange@read,add,player,control,admin\ndefault-permissions = read\n" + settings, in: folder)
    }

    @Test("another user's commands reach the daemon with that user's name, and the queue is known after them")
    func names() async throws {
        let house = await house()
        let client = try house.client()
        #expect(try client.ask("add \(folder.silence("a.wav", seconds: 60))") == ["OK"])
        let watcher = try house.daemonClient()
        _ = try watcher.result("nowPlaying.subscribe")
        let denied = await ask(house, ["play", "status"])
        #expect(denied.first == "ACK [4@0] {play} you don't have permission for \"play\"")
        #expect(denied.last == "OK" && denied.contains("state: stop"))
        let answers = await ask(house, ["password orange", "play", "status"])
        #expect(answers.prefix(2) == ["OK", "OK"])
        var event = try watcher.read()
        while event["params"]?["cause"] != "play" { event = try watcher.read() }
        #expect(event["params"]?["by"]?["uid"] == 65_534)
        #expect(event["params"]?["by"]?["client"] == "MPD client")
        #expect(try client.ask("pause 1") == ["OK"])
        while event["params"]?["cause"] != "pause" { event = try watcher.read() }
        #expect(event["params"]?["by"]?["client"] == "nowplaying-mpd")
        let edits = await ask(
            house,
            [
                "password orange", "addid http://127.0.0.1:9/x", "playlistinfo 1", "command_list_ok_begin",
                "add http://127.0.0.1:9/y", "add http://127.0.0.1:9/z", "command_list_end", "delete 1", "playlist",
            ])
        #expect(edits.contains("file: http://127.0.0.1:9/x") && edits.contains("Pos: 1"))
        #expect(
            edits.suffix(5).elementsEqual([
                "OK", "0:file: file://\(folder.path("a.wav"))", "1:file: http://127.0.0.1:9/y",
                "2:file: http://127.0.0.1:9/z", "OK",
            ]), "\(edits)")
    }

    @Test("the daemon refuses another user what it would refuse it at its own socket") func refusals() async throws {
        let house = await house("[access]\noutput-role = admin\n")
        let client = try house.client()
        #expect(try client.ask("outputset 0 delay 0.25") == ["OK"])
        #expect(try client.ask("newpartition mine") == ["OK"])
        let answers = await ask(
            house,
            [
                "password orange", "outputset 0 delay 0", "delpartition mine", "newpartition theirs",
                "add \(folder.silence("a.wav", seconds: 1))", "delpartition theirs", "listpartitions",
            ])
        #expect(answers.count == 9, "\(answers)")
        #expect(answers[1].hasPrefix("ACK [4@0] {outputset} "))
        #expect(answers[2].hasPrefix("ACK [4@0] {delpartition} "))
        #expect(answers[3] == "OK")
        #expect(answers[4] == "ACK [4@0] {add} Access denied")
        #expect(answers.suffix(4) == ["OK", "partition: default", "partition: mine", "OK"])
        #expect(try client.ask("outputs").contains("attribute: delay=0.250"))
        #expect(try client.ask("delpartition mine") == ["OK"])
    }

    @Test("a connection for another user ends with that user's last client") func ends() async throws {
        let house = await house()
        let client = try house.client()
        #expect(try client.ask("ping") == ["OK"])
        func descriptors() -> Int {
            guard let folder = opendir("/proc/\(house.bridge.pid)/fd") else { return 0 }
            defer { closedir(folder) }
            var count = 0
            while readdir(folder) != nil { count += 1 }
            return count
        }
        let before = descriptors()
        _ = await ask(house, ["password orange", "stop"])
        #expect(becomes { descriptors() == before })
    }
}
