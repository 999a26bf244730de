import Glibc
import TestSupport
import Testing

/// Faults around a bridge.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FaultTests {
    @Test func itWaitsForBusAndDaemonAndOutlivesBoth() async throws {
        let installation = Installation()
        await installation.startBridge()
        await installation.startDaemon()
        await installation.startBus()
        #expect(installation.isSeen())
        installation.control("play", installation.silence("a.wav"))
        for round in 0..<3 {
            // Ended in order or not, with its socket left behind or not.
            installation.end("bus", round == 0 ? SIGTERM : SIGKILL)
            await installation.startBus()
            #expect(installation.isSeen(), "bus, round \(round)")
            #expect(installation.playerctl("status") == "Playing")
        }
        installation.end("daemon", SIGKILL)
        #expect(becomes { installation.run("playerctl", "-l").text == "" })
        await installation.startDaemon()
        #expect(installation.isSeen())
        #expect(installation.playerctl("open", installation.silence("b.wav")) == "")
    }

    @Test func itSleepsWhileNothingHappens() async throws {
        // sd-bus, while it waits for a bus, watches each folder on the way to its socket: a file that any program makes in
        // /tmp would wake it.
        let home = try #require(currentEnvironment()["HOME"])
        let installation = await Installation.running(in: home)
        installation.control("play", installation.silence("a.wav"))
        #expect(installation.playerctl("status") == "Playing")
        #expect(wakeups(installation, 1_000_000) == 0, "playing")
        installation.control("pause")
        #expect(installation.playerctl("status") == "Paused")
        #expect(wakeups(installation, 500_000) == 0, "paused")
        installation.end("daemon")
        #expect(becomes { installation.run("playerctl", "-l").text == "" })
        #expect(wakeups(installation, 500_000) == 0, "without a daemon")
        installation.end("bus")
        #expect(wakeups(installation, 500_000) == 0, "without a bus")
        #expect(installation.end("bridge") == 0)
    }

    /// Number of the bridge's wakeups in this number of microseconds, once it has settled: the least of several turns,
    /// as a rhythm would be seen in each.
    private func wakeups(_ installation: Installation, _ microseconds: UInt32) -> Int {
        var least = Int.max
        for _ in 0..<8 where least > 0 {
            let before = installation.switches
            usleep(microseconds)
            least = min(least, installation.switches - before)
        }
        return least
    }

    @Test func hostileTextsArriveHarmless() async throws {
        let installation = await Installation.running()
        let file = installation.silence("a.wav")
        let hostile = #"a\u001b[2J\u0000\u202e\ufffe\ud83c\udfb5"#
        installation.control(
            "call", "queue.add", #"{"items": [{"uri": "\#(file)", "title": "\#(hostile)", "artist": "\#(hostile)"}]}"#)
        installation.control("play")
        #expect(installation.playerctl("metadata", "title") == "a\u{FFFD}[2J\u{FFFD}\u{FFFD}🎵")
        let odd = installation.folder.path("od\u{1B}d \u{202E}.wav")
        rename(file, odd)
        installation.playerctl("open", odd)
        #expect(installation.playerctl("metadata", "title") == "od\u{FFFD}d ")
        #expect(installation.playerctl("metadata", "xesam:url").hasSuffix("/od%1Bd%20%E2%80%AE.wav"))
    }

    @Test func callsThatAreWrong() async throws {
        let installation = await Installation.running()
        func error(_ words: String...) -> String {
            let command = "busctl --address=$DBUS_SESSION_BUS_ADDRESS \(words.joined(separator: " ")) 2>&1"
            return installation.run("sh", "-c", command).text
        }
        let place = "org.mpris.MediaPlayer2.nowplayingd /org/mpris/MediaPlayer2"
        let player = "org.mpris.MediaPlayer2.Player"
        #expect(error("call", place, player, "Fly").contains("unknown method Fly"))
        #expect(error("call", place, player, "Seek", "s", "x").contains("arguments of the types “x”"))
        #expect(error("call", place, "org.example", "Play").contains("unknown interface org.example"))
        #expect(error("get-property", place, player, "Colour").contains("no property Colour"))
        #expect(error("set-property", place, player, "CanSeek", "b", "true").contains("read-only"))
        #expect(error("set-property", place, player, "Volume", "s", "loud").contains("value of the type “d”"))
        #expect(error("set-property", place, player, "Volume", "d", "nan") != "")
        #expect(error("set-property", place, player, "LoopStatus", "s", "Often").contains("None, Track or Playlist"))
        #expect(error("set-property", place, player, "LoopStatus", "s", "None") == "")
        #expect(error("call", place, player, "OpenUri", "s", "''").contains("a uri has"))
        // To another track than the present one, and outside of it: passed over.
        installation.control("play", installation.silence("a.wav"))
        installation.control("pause")
        installation.control("seek", "3")
        #expect(error("call", place, player, "SetPosition", "ox", "/nowplayingd/track/99", "1000000") == "")
        #expect(error("call", place, player, "SetPosition", "ox", "/nowplayingd/track/1", "99000000") == "")
        #expect(installation.playerctl("position") == "3.000000")
        #expect(installation.playerctl("position", "99-") == "")
        #expect(installation.playerctl("position") == "0.000000")
    }
}
