import ControlProtocol
import Glibc
import TestSupport
import Testing

/// Mistakes, refusals and exit statuses, through the real program.
@Suite(.timeLimit(.minutes(8))) struct FailureTests {
    private let folder = TemporaryFolder()

    @Test(arguments: [
        ("statsu", "did you mean status?"), ("pley", "did you mean play?"),
        ("xyzzyx", "unknown verb"), ("status x", "takes no \"x\""), ("status --fromat x", "did you mean --format?"),
        ("play --position", "needs a value"), ("play --position x", "1:23"), ("play 0", "from 1"), ("skip x", "30"),
        ("skip 0", "30"), ("seek", "needs more"), ("seek 1:75", "1:23.5"), ("seek 10 20", "takes no"),
        ("volume 101", "percent"), ("volume loud", "percent"),
        ("volume 0.5", "for 50 % write 50"), ("volume +0.05", "for 5 % write +5"),
        ("volume 12.5", "for 12.5 % write 12.5%"),
        ("announce --volume 0.3 /a", "for 30 % write 30"), ("remove", "needs more"), ("remove 0", "from 1"),
        ("remove 7-3", "3-7"), ("remove x", "from 1"), ("move 1", "needs more"), ("add", "needs more"),
        ("queue mix", "shuffle"), ("queue shuffle 0", "from 1"), ("queue shuffle 3-x", "from 1"),
        ("queue shuffle -f x", "no --format"), ("add --at 0 /a", "from 1"), ("add --at 1 --next /a", "exclude"),
        ("configure skip-forward", "nothing to set"),
        ("configure skip-forward --intervals 15,x", "15,30"), ("configure x --intervals 0", "above 0"),
        ("configure play --enable --disable", "exclude"), ("wait", "needs more"), ("wait foo", "track"),
        ("wait play --timeout 0", "seconds"), ("wait play --timeout x", "seconds"), ("call", "needs more"),
        ("call x {", "not JSON"), ("call x []", "an object"), ("status -f {{", "format:"),
        ("pause --next", "no option"),
        ("status --json=1", "takes no value"), ("help nope", "unknown verb"), ("status -Fx", "unknown option -Fx"),
        ("setup -yes", "unknown option -yes"), ("status --foo", "See: nowplayingctl status --help"),
        ("status -f a -f b", "--format is given twice"), ("find --sort x --genre a --sort y", "--sort is given twice"),
        ("lists play x --genre rock", "lists play has no option --genre"),
        ("lists delete x --genre rock", "lists delete has no option --genre"),
        ("lists show x --genre rock", "lists show has no option --genre"), ("lists --genre rock", "no option --genre"),
        ("lists add x --replace", "no option --replace"), ("sleep --fade 60", "without a time has no option --fade"),
        ("sleep off --fade 60", "sleep off has no option --fade"), ("sleep 1000h", "at most a week"),
        ("skip --back -15", "exclude"), ("skip -15 --back", "exclude"), ("skip --back +15", "exclude"),
        ("session foo", "expected list, create"), ("session foo x", "expected list, create"),
        ("session list --policy mix", "session list has no option --policy"),
        ("session create x --run y", "session create has no option --run"), ("session list x", "takes no \"x\""),
        ("session close", "needs a name"), ("random on --genre x", "random on has no option --genre"),
        ("volume 5 -f x", "no option --format"), ("position 5 -f x", "no option --format"),
        ("setup user --server x", "setup user has no option --server"), ("playlist x", "playlist: invalid value"),
        ("output --delay 3", "output OUTPUT --delay SECONDS"),
    ])
    func mistakesAreUsageErrors(line: String, part: String) {
        // Nothing listens there: a mistake is found before the daemon is asked.
        let socket = folder.path("absent.sock")
        let outcome = Tool.run(line.split(separator: " ").map(String.init), socket: socket)
        #expect(outcome.status == 2, "\(outcome.complaint)")
        #expect(outcome.complaint.contains(part), "\(outcome.complaint)")
        #expect(outcome.output.isEmpty)
    }

    @Test(
        arguments: [
            (100, "noSuchContent", 3), (110, "noActionableNowPlayingItem", 4), (120, "deviceNotFound", 5),
            (200, "commandFailed", 1), (403, "denied", 7), (-32602, "", 2), (-32601, "", 1), (-32603, "", 1),
        ] as [(Int, String, Int32)])
    func refusalsHaveTheirStatus(code: Int, name: String, status: Int32) {
        let socket = folder.path("refuse.sock")
        let daemon = FakeDaemon(socket) { _, _ in
            .error(code, "no \u{1B}[31mway\nout", ["status": .string(name), "reason": "outOfRange"])
        }
        let outcome = Tool.run(["pause"], socket: socket)
        #expect(outcome.status == status)
        #expect(outcome.complaint.hasPrefix("nowplayingctl: no \u{FFFD}[31mway out\n"))
        #expect(daemon.requests == ["pause"])
        let json = Tool.run(["pause", "--json"], socket: socket)
        #expect(json.status == status)
        #expect((try? JSONReader.read(json.output))?["error"]?["code"] == .integer(Int64(code)))
    }

    @Test func disabledSaysWhereToLook() {
        let socket = folder.path("disabled.sock")
        let daemon = FakeDaemon(socket) { _, _ in .error(200, "next is disabled", ["reason": "disabled"]) }
        let outcome = Tool.run(["next"], socket: socket)
        #expect(outcome.status == 6)
        #expect(outcome.complaint.contains("nowplayingctl commands"))
        #expect(daemon.requests.count == 1)
    }

    @Test func anAcceptedCommandWithoutSoundIsReported() {
        let socket = folder.path("stalled.sock")
        let daemon = FakeDaemon(socket) { method, _ in
            method == "play"
                ? .result(["status": "success", "state": "stalled"])
                : .result(Sample.state(state: "stalled", rate: 0, changes: ["stall": ["reason": "noServer"]]))
        }
        let outcome = Tool.run(["play"], socket: socket)
        #expect(outcome.status == 0)
        #expect(outcome.complaint.hasPrefix("nowplayingctl: accepted; no sound server answers"), "\(outcome.complaint)")
        #expect(daemon.requests == ["play", "nowPlaying.get"])
        let waited = Tool.run(["play", "--wait", "--timeout", "0.1"], socket: socket)
        #expect(waited.status == 5)
        #expect(waited.complaint.hasPrefix("nowplayingctl: no sound server answers"), "\(waited.complaint)")
    }

    @Test func messagesHaveTheWordsOfTheCommandLine() {
        let socket = folder.path("words.sock")
        let message =
            "nextTrack is disabled; “policy” must be one of duck, pauseSpoken, not /nextTrack.flac; "
            + "output.list lists the outputs: \"changePlaybackRate\""
        let daemon = FakeDaemon(socket) { _, _ in .error(200, message, [:]) }
        let outcome = Tool.run(["pause"], socket: socket)
        #expect(
            outcome.complaint == "nowplayingctl: next-track is disabled; “policy” must be one of duck, pause-spoken, "
                + "not /nextTrack.flac; nowplayingctl outputs lists the outputs: \"change-playback-rate\"\n")
        #expect(Tool.run(["pause", "--json"], socket: socket).output.contains("nextTrack is disabled"))
        withExtendedLifetime(daemon) {}
    }

    @Test func theStartOfADaemonHasTheSocketOfTheEnvironment() {
        let outcome = Tool.run(["status"], socket: folder.path("nope"))
        #expect(outcome.complaint.contains("Start one: nowplayingd --socket \(folder.path("nope"))"))
        let hooks = Tool.run(["hooks"], socket: folder.path("nope"))
        #expect(hooks.status == 8 && hooks.complaint.contains("no nowplaying-hooks was started here"))
    }

    @Test func aFileThatIsNotThereIsNamed() {
        let socket = folder.path("missing.sock")
        let path = folder.path("music/x/a.flac")
        let daemon = FakeDaemon(socket) { _, _ in .error(100, "no such file", ["uris": [.string(path)]]) }
        let outcome = Tool.run(["add", path, folder.path], socket: socket)
        #expect(outcome.status == 3)
        #expect(outcome.complaint.contains("the folder \(folder.path)/music does not exist"))
        let stick = Tool.run(["play", "/media/nobody/stick/a.flac"], socket: socket)
        #expect(stick.complaint.contains("/media/nobody/stick/a.flac") || stick.complaint.contains("no such file"))
        #expect(daemon.requests.count == 2)
    }

    @Test func everyPathOfAnAbsentDaemonIsNamed() {
        let absent = Tool.run(["status"], socket: nil, environment: ["XDG_RUNTIME_DIR": folder.path])
        #expect(absent.status == 8)
        #expect(absent.complaint.contains("\(folder.path)/nowplayingd/control.sock: "))
        #expect(absent.complaint.contains("/run/nowplayingd/control.sock: "))
        #expect(absent.complaint.contains("Start one: nowplayingd"))
        let one = Tool.run(["--socket", folder.path("x"), "status"], socket: "/other")
        #expect(one.status == 8)
        #expect(one.complaint.contains(folder.path("x") + ": no such socket"))
        #expect(!one.complaint.contains("/other"))
    }

    @Test func aSocketThatNobodyListensToIsToldApart() {
        let socket = folder.path("dead.sock")
        let daemon = FakeDaemon(socket) { _, _ in .silence }
        // A second name outlives the socket that stop() takes away.
        link(socket, folder.path("left.sock"))
        daemon.stop()
        let outcome = Tool.run(["status"], socket: folder.path("left.sock"))
        #expect(outcome.status == 8)
        #expect(outcome.complaint.contains("connection refused: the daemon has ended"))
    }

    @Test func silenceEndsWithTheTimeout() {
        let socket = folder.path("silent.sock")
        let daemon = FakeDaemon(socket) { _, _ in .silence }
        #expect(Tool.run(["pause", "--timeout", "0.05"], socket: socket).status == 9)
        #expect(daemon.requests == ["pause"])
    }

    @Test func aHungUpConnectionIsNoAnswer() {
        let socket = folder.path("hangup.sock")
        let daemon = FakeDaemon(socket) { _, _ in .hangUp }
        #expect(Tool.run(["pause"], socket: socket).status == 8)
        #expect(daemon.requests == ["pause"])
        #expect(Tool.run(["follow"], socket: socket).status == 8)
    }

    @Test(arguments: ["--help", "help", "play --help", "help wait", "--version", "follow -h"])
    func helpNeedsNoDaemon(line: String) {
        let outcome = Tool.run(line.split(separator: " ").map(String.init), socket: folder.path("absent.sock"))
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("nowplayingctl"))
        #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 120 })
        #expect(outcome.complaint.isEmpty)
    }
}
