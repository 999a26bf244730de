import Glibc
import TestSupport
import Testing

/// The samples of `etc/hooks`, as they are installed, run by the real nowplaying-hooks.
@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct HookSampleTests {
    private let house = House()

    /// Puts a sample into a folder.
    private func install(_ name: String, in folder: String) {
        var root = #filePath
        for _ in 0..<3 { root = String(root[..<root.lastIndex(of: "/")!]) }
        let copied = TestProcess.run([
            "install", "-m", "755", root + "/etc/hooks/" + name + ".sample", house.folder.path(folder + "/" + name),
        ])
        precondition(copied.status == 0, copied.text)
    }

    private func start(_ settings: String, _ variables: [String]) async -> TestProcess {
        house.write("config/nowplayingd.conf", "[hooks]\ndirectory = \(house.folder.path("hooks.d"))\n\(settings)")
        let words = ["env"] + variables + [House.program("nowplaying-hooks"), "--socket", house.socket]
        let hooks = await house.start(command: words, log: "hooks.log")
        precondition(becomes { access(house.folder.path("nowplaying-hooks/control.sock"), F_OK) == 0 })
        return hooks
    }

    @Test("an amplifier is on while something is heard, and off when it has been quiet for a while")
    func amplifier() async {
        mkdir(house.folder.path("hooks"), 0o755)
        install("amplifier", in: "hooks")
        let hook = house.folder.path("hooks/amplifier")
        house.write("relay", "")
        let daemon = await house.startDaemon()
        let hooks = await start(
            "active-began = \(hook) on\nactive-ended = \(hook) off\nquiet-time = 0.1\n",
            ["RELAY=" + house.folder.path("relay")])
        await house.tool("play", house.silence("a.wav", seconds: 60))
        #expect(house.comes("1\n", in: "relay"), "\(house.text("hooks.log"))")
        await house.tool("pause")
        #expect(house.comes("0\n", in: "relay"))
        var test = (status: Int32(1), text: "")
        #expect(becomes { !TestProcess.run(["sh", "-c", "cat \(house.folder.path("relay"))"]).text.isEmpty })
        test = await house.tool("hooks", "test", "amplifier", "active-began")
        #expect(test.status == 0 && test.text.contains("amplifier 1 (active-began)\n"), "\(test.text)")
        #expect(house.text("relay") == "1\n")
        for process in [hooks, daemon] { process.stop() }
    }

    @Test("a light shows what happens, and each item that begins is a line")
    func ledAndScrobbles() async {
        for name in ["led", "scrobble"] { install(name, in: "hooks.d") }
        mkdir(house.folder.path("led"), 0o755)
        let daemon = await house.startDaemon()
        let hooks = await start(
            "", ["LED=" + house.folder.path("led"), "SCROBBLES=" + house.folder.path("scrobbles")])
        func led(_ trigger: String, _ name: String, _ value: String) -> Bool {
            becomes { house.text("led/trigger") == trigger + "\n" && house.text("led/" + name) == value + "\n" }
        }
        #expect(led("none", "brightness", "0"))
        let (first, second) = (house.silence("a.wav", seconds: 60), house.silence("b.wav", seconds: 60))
        let item = #"{"uri": "\#(first)", "title": "One\tA", "artist": "Some\nBody", "albumTitle": "L"}"#
        await house.tool("call", "queue.add", #"{"items": [\#(item), "\#(second)"], "play": true}"#)
        #expect(led("none", "brightness", "1"))
        #expect(house.comes("\tSome Body\tL\tOne A\t60\t", in: "scrobbles"), "\(house.text("scrobbles"))")
        await house.tool("pause")
        #expect(led("timer", "delay_on", "100"))
        await house.tool("play")
        #expect(led("none", "brightness", "1"))
        await house.tool("next")
        #expect(house.comes("\tb\t60\t", in: "scrobbles"), "\(house.text("scrobbles"))")
        let lines = house.text("scrobbles").split(separator: "\n", omittingEmptySubsequences: true)
        #expect(lines.count == 2, "what goes on after a pause is no other item: \(lines)")
        #expect(lines.allSatisfy { $0.split(separator: "\t", omittingEmptySubsequences: false).count == 6 })
        await house.tool("stop")
        #expect(led("none", "brightness", "0"))
        for process in [hooks, daemon] { process.stop() }
    }

    @Test("a desktop gets a notification for each item, without markup from a file's tags")
    func notification() async {
        install("notify", in: "hooks.d")
        let address = "unix:path=" + house.folder.path("bus")
        let bus = await house.start(
            command: ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=" + address], log: "bus.log")
        #expect(becomes { access(house.folder.path("bus"), F_OK) == 0 })
        let variable = "DBUS_SESSION_BUS_ADDRESS=" + address
        let desktop = await house.start(
            command: ["env", variable, "python3", "-u", "-m", "dbusmock", "--template", "notification_daemon"],
            log: "desktop.log")
        let list = ["env", variable, "busctl", "--user", "--acquired", "list"]
        #expect(becomes { TestProcess.run(list).text.contains("org.freedesktop.Notifications") })
        let daemon = await house.startDaemon()
        let hooks = await start("", [variable])
        let item = #"{"uri": "\#(house.silence("a.wav", seconds: 60))", "title": "-t <b>One", "artist": "A & <i>B"}"#
        await house.tool("call", "queue.add", #"{"items": [\#(item)], "play": true}"#)
        #expect(house.comes(#" Notify "nowplayingd" 0 "" "-t <b>One" "A &amp; &lt;i&gt;B""#, in: "desktop.log"))
        await house.tool("pause")
        // The pause runs the hook, too, and a hook runs once at a time.
        var test = await house.tool("hooks", "test", "notify", "play")
        while test.text.contains("the hook is running") {
            test = await house.tool("hooks", "test", "notify", "play")
        }
        #expect(test.status == 0, "\(test.text)")
        let notes = house.text("desktop.log").split(separator: "\n").filter { $0.contains(" Notify ") }
        #expect(notes.count == 1, "\(notes)")
        for process in [hooks, daemon, desktop, bus] { process.stop() }
    }
}
