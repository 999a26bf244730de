import ControlProtocol
import Glibc
import TestSupport
import Testing

/// States, modes and settings of the player, beside the real daemon.
@Suite(.timeLimit(.minutes(5)), .serialized) struct PlayerStateTests {
    private let folder = TemporaryFolder()

    /// Keys of an answer in their order.
    private func keys(_ lines: [String]) -> [String] {
        lines.dropLast().map { String($0.prefix { $0 != ":" }) }
    }

    private func house(songs count: Int) async throws -> (house: MPDHouse, client: LineClient) {
        let house = await MPDHouse.start(in: folder)
        let client = try house.client()
        for number in 0..<count {
            let file = folder.silence("s\(number).wav", seconds: 60)
            #expect(try client.ask("add \(file)") == ["OK"])
        }
        return (house, client)
    }

    @Test("the lines of status have the order of MPD's") func order() async throws {
        let (house, client) = try await house(songs: 3)
        defer { withExtendedLifetime(house) {} }
        let before = [
            "volume", "repeat", "random", "single", "consume", "partition", "playlist", "playlistlength", "mixrampdb",
            "state", "lastloadedplaylist",
        ]
        #expect(keys(try client.ask("status")) == before)
        #expect(try client.ask("crossfade 4") == ["OK"])
        #expect(try client.ask("mixrampdelay 2.5") == ["OK"])
        #expect(try client.ask("play 1") == ["OK"])
        let status = try client.ask("status")
        #expect(
            keys(status)
                == before + [
                    "xfade", "mixrampdelay", "song", "songid", "time", "elapsed", "bitrate", "duration", "audio",
                    "nextsong", "nextsongid",
                ])
        for line in [
            "xfade: 4", "mixrampdelay: 2.5", "song: 1", "audio: 44100:16:2", "duration: 60.000", "nextsong: 2",
        ] {
            #expect(status.contains(line), "\(line): \(status)")
        }
        #expect(status.contains { $0.hasPrefix("time: ") && $0.hasSuffix(":60") })
        #expect(try client.ask("stop") == ["OK"])
        let stopped = try client.ask("status")
        #expect(keys(stopped) == before + ["xfade", "mixrampdelay", "song", "songid", "nextsong", "nextsongid"])
        house.daemon.signal(SIGTERM)
        #expect(becomes { (try? client.ask("status").contains("error: nowplayingd is not running")) == true })
    }

    @Test("all combinations of the four flags are kept over restarts of the bridge and of the daemon") func modes()
        async throws
    {
        let (house, client) = try await house(songs: 2)
        defer { withExtendedLifetime(house) {} }
        var last: [String] = []
        for isRepeating in ["0", "1"] {
            for single in ["0", "1", "oneshot"] {
                for consume in ["0", "1", "oneshot"] {
                    for random in ["0", "1"] {
                        for (name, value) in [
                            ("repeat", isRepeating), ("single", single), ("consume", consume), ("random", random),
                        ] {
                            #expect(try client.ask("\(name) \(value)") == ["OK"])
                        }
                        last = [
                            "repeat: \(isRepeating)", "random: \(random)", "single: \(single)", "consume: \(consume)",
                        ]
                        #expect(try client.ask("status").filter(last.contains).count == 4)
                    }
                }
            }
        }
        house.bridge.signal(SIGTERM)
        #expect(house.bridge.wait() == 0)
        house.daemon.signal(SIGTERM)
        #expect(house.daemon.wait() == 0)
        let again = await MPDHouse.start(in: folder)
        #expect(try again.client().ask("status").filter(last.contains).count == 4)
        for (line, message) in [
            ("single 2", "Unrecognized single mode, expected 0, 1, or oneshot"),
            ("repeat 2", "Boolean (0/1) expected: 2"),
        ] {
            let word = line.prefix { $0 != " " }
            #expect(try again.client().ask(line) == ["ACK [2@0] {\(word)} \(message)"])
        }
    }

    @Test("with single, the song that follows is named though playback pauses before it") func nextWithSingle()
        async throws
    {
        let (house, client) = try await house(songs: 2)
        defer { withExtendedLifetime(house) {} }
        #expect(try client.ask("single 1") == ["OK"])
        #expect(try client.ask("play 0") == ["OK"])
        #expect(try client.value("nextsong", of: "status") == "1")
        #expect(try client.ask("play 1") == ["OK"])
        #expect(try client.value("nextsong", of: "status") == nil)
    }

    @Test("clearerror hides the error until there is another one") func error() async throws {
        let (house, client) = try await house(songs: 0)
        defer { withExtendedLifetime(house) {} }
        for name in ["a.wav", "b.wav"] {
            let file = folder.file(name, "no sound")
            #expect(try client.ask("clear") == ["OK"])
            // The error of the item before stays hidden when that item leaves the queue.
            #expect(try client.value("error", of: "status") == nil)
            #expect(try client.ask("add \(file)") == ["OK"])
            _ = try client.ask("play")
            #expect(becomes { (try? client.value("error", of: "status")) ?? nil != nil })
            #expect(try client.ask("clearerror") == ["OK"])
            #expect(try client.value("error", of: "status") == nil)
        }
    }

    @Test("the subsystems that one state changes come in one answer") func together() async throws {
        let house = await MPDHouse.start(in: folder)
        let client = try house.client()
        try client.send("idle mixer options output")
        house.daemon.signal(SIGTERM)
        #expect(house.daemon.wait() == 0)
        let again = await LoopThread.run {
            MPDHouse.process(folder, "nowplayingd", ["--state-directory", folder.path("state"), "--output", "null"])
        }
        defer { again.end() }
        #expect(try client.answer() == ["changed: mixer", "changed: output", "changed: options", "OK"])
    }

    @Test("a command is followed by its own effects") func ownEffects() async throws {
        let (house, client) = try await house(songs: 1)
        defer { withExtendedLifetime(house) {} }
        let file = folder.path("s0.wav")
        for count in 2...200 {
            #expect(try client.ask("add \(file)") == ["OK"])
            #expect(try client.value("playlistlength", of: "status") == "\(count)")
        }
        // So many edits at once come without their list.
        try client.send("command_list_begin")
        for _ in 0..<150 { try client.send("delete 0") }
        #expect(try client.ask("command_list_end") == ["OK"])
        #expect(try client.value("playlistlength", of: "status") == "50")
        #expect(try client.ask("plchangesposid 1").count == 101)
    }

    @Test("outputs keep their numbers, one is enabled, and its delay is an attribute") func outputs() async throws {
        let (house, client) = try await house(songs: 0)
        defer { withExtendedLifetime(house) {} }
        let first = ["outputid: 0", "outputname: No sound", "plugin: pulse", "outputenabled: 1"]
        #expect(try client.ask("outputs") == first + ["OK"])
        #expect(try client.ask("enableoutput 0") == ["OK"])
        for command in ["disableoutput", "toggleoutput"] {
            #expect(try client.ask("\(command) 0")[0].hasPrefix("ACK [52@0] {\(command)} one output is always enabled"))
        }
        #expect(try client.ask("enableoutput 7") == ["ACK [50@0] {enableoutput} No such audio output"])
        #expect(try client.ask("outputset 0 volume 1") == ["ACK [2@0] {outputset} Unsupported attribute"])
        #expect(try client.ask("moveoutput nothing") == ["ACK [50@0] {moveoutput} No such output"])
    }

    @Test("questions about abilities, and parts of the protocol") func abilities() async throws {
        let (house, client) = try await house(songs: 1)
        defer { withExtendedLifetime(house) {} }
        #expect(try client.ask("decoders").contains("suffix: flac"))
        #expect(try client.ask("protocol enable hide_playlists_in_root") == ["OK"])
        #expect(try client.ask("protocol") == ["feature: hide_playlists_in_root", "OK"])
        #expect(try client.ask("protocol clear") == ["OK"])
        #expect(try client.ask("protocol") == ["OK"])
        #expect(try client.ask("protocol enable x") == ["ACK [2@0] {protocol} Unknown protocol feature"])
        #expect(try client.ask("tagtypes reset Artist album") == ["OK"])
        #expect(try client.ask("tagtypes") == ["tagtype: Artist", "tagtype: Album", "OK"])
        #expect(try client.ask("tagtypes available").count == 37)
        #expect(try client.ask("listneighbors")[0].hasPrefix("ACK [5@0]"))
        #expect(try client.ask("mount \"\" x") == ["ACK [2@0] {mount} Bad mount point"])
        let id = try client.value("Id", of: "playlistinfo") ?? ""
        #expect(try client.ask("rangeid \(id) :") == ["OK"])
        #expect(try client.ask("rangeid \(id) 1:2")[0].hasPrefix("ACK [52@0] {rangeid} a part of a file"))
        #expect(
            try client.ask("addtagid \(id) artist x") == ["ACK [4@0] {addtagid} Cannot edit tags of local file"])
        #expect(try client.ask("addtagid \(id) wrong x") == ["ACK [2@0] {addtagid} Unknown tag type: wrong"])
        let commands = try client.ask("commands")
        #expect(!commands.contains("command: kill") && commands.contains("command: status"))
        #expect(try client.ask("kill") == ["ACK [5@0] {} unknown command \"kill\""])
    }
}
