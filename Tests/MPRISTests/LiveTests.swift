import ControlProtocol
import Glibc
import TestSupport
import Testing

/// The bridge on a real bus, before a real daemon, with the programs that people use.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LiveTests {
    @Test func everyVerbOfPlayerctl() async throws {
        let installation = await Installation.running()
        #expect(installation.playerctl("status") == "Stopped")
        #expect(installation.playerctl("next") != "")
        let (first, second) = (installation.silence("a.wav"), installation.silence("b.wav"))
        #expect(installation.playerctl("open", first) == "")
        installation.control("add", second)
        #expect(becomes { installation.playerctl("status") == "Playing" })
        #expect(installation.playerctl("pause") == "")
        #expect(installation.playerctl("status") == "Paused")
        #expect(installation.playerctl("position", "5") == "")
        #expect(installation.playerctl("position") == "5.000000")
        installation.playerctl("position", "3+")
        #expect(installation.playerctl("position") == "8.000000")
        installation.playerctl("position", "2-")
        #expect(installation.playerctl("position") == "6.000000")
        #expect(installation.playerctl("next") == "")
        #expect(installation.playerctl("metadata", "title") == "b")
        #expect(installation.playerctl("metadata", "xesam:url") == "file://\(second)")
        #expect(installation.playerctl("previous") == "")
        #expect(installation.playerctl("metadata", "mpris:length") == "60000000")
        #expect(installation.playerctl("play") == "")
        #expect(installation.playerctl("status") == "Playing")
        #expect(installation.playerctl("play-pause") == "")
        #expect(installation.playerctl("volume", "0.5") == "")
        #expect(installation.playerctl("volume") == "0.500000")
        #expect(installation.playerctl("volume", "0.25+") == "")
        let line = installation.playerctl(
            "metadata", "--format", "{{playerName}} {{status}} {{title}} {{volume}} {{duration(mpris:length)}}")
        #expect(line == "nowplayingd Paused a 0.75 1:00")
        #expect(installation.playerctl("loop") == "None")
        #expect(installation.playerctl("loop", "None") == "")
        #expect(installation.playerctl("loop", "Track") == "")
        #expect(installation.playerctl("loop") == "Track")
        #expect(installation.playerctl("shuffle") == "Off")
        #expect(installation.playerctl("shuffle", "On") == "")
        #expect(installation.playerctl("shuffle") == "On")
        #expect(installation.playerctl("open", "/no/such.wav") == "status 1")
        #expect(installation.playerctl("stop") == "")
        #expect(installation.playerctl("status") == "Stopped")
        #expect(installation.playerctl("position") == "0.000000")
        #expect(installation.end("bridge") == 0)
    }

    @Test("another player that stops leaves what resumes to the bus") func returns() async throws {
        let installation = await Installation.running()
        installation.control("play", installation.silence("a.wav"))
        #expect(becomes { installation.playerctl("metadata", "title") == "a" })
        let player = try RawClient(installation.socket)
        _ = try player.result("session.create", ["name": "air", "external": true, "commands": ["play", "pause"]])
        _ = try player.result("nowPlaying.publish", ["session": "air", "state": "playing", "item": ["title": "Aria"]])
        #expect(becomes { installation.playerctl("metadata", "title") == "Aria" })
        _ = try player.result("nowPlaying.publish", ["session": "air", "state": "stopped", "item": ["title": "Aria"]])
        let isBack = becomes {
            installation.playerctl("metadata", "title") == "a" && installation.playerctl("status") == "Playing"
        }
        #expect(isBack)
        #expect(installation.playerctl("pause") == "")
        #expect(becomes { installation.playerctl("status") == "Paused" })
        #expect(installation.end("bridge") == 0)
    }

    @Test func playerctlFollows() async throws {
        let installation = await Installation.running()
        installation.control("play", installation.silence("a.wav"))
        installation.control("pause")
        let environment = installation.environment
        let words = ["playerctl", "--follow", "metadata", "--format", "{{status}} {{title}} {{duration(position)}}"]
        let follower = await LoopThread.run { TestProcess(words, environment: environment, output: true) }
        defer {
            follower.end()
            close(follower.output)
        }
        // The first line shows that it follows; the number of lines for one signal is its own business.
        #expect(follows(follower.output, "Paused a 0:00"))
        installation.control("seek", "30")
        #expect(follows(follower.output, "Paused a 0:30"))
        installation.control("play", installation.silence("b.wav"))
        #expect(follows(follower.output, "Playing b 0:00"))
        // The daemon ends, and with it the player; it comes back with the daemon.
        installation.end("daemon")
        #expect(becomes { installation.run("playerctl", "-l").text == "" })
        await installation.startDaemon()
        #expect(installation.isSeen())
    }

    /// True if one of the next lines is this one; false if none comes for 10 s.
    private func follows(_ descriptor: Int32, _ wanted: String) -> Bool {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        for _ in 0..<4096 {
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, 10_000) > 0, read(descriptor, &byte, 1) == 1 else { return false }
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            if String(decoding: line, as: UTF8.self) == wanted { return true }
            line = []
        }
        return false
    }

    @Test func signalsAreToldAtKeyEventsAndSeekedAtJumps() async throws {
        let installation = await Installation.running()
        let monitor = await BusMonitor(installation)
        let files = (0..<3).map { installation.silence("\($0).wav", seconds: $0 == 2 ? 60 : 0.3) }
        // Two tracks that end by themselves, the third plays on.
        installation.control("add", files[0], files[1], files[2])
        installation.control("play")
        #expect(becomes { installation.playerctl("metadata", "title") == "2" })
        var signals = monitor.signals()
        let titles = signals.compactMap { $0.changed?["Metadata"]?["data"]?["xesam:title"]?["data"]?.stringValue }
        #expect(titles == ["0", "1", "2"])
        #expect(signals.allSatisfy { $0.seeked == nil })
        let statuses = signals.compactMap { $0.changed?["PlaybackStatus"]?["data"]?.stringValue }
        #expect(statuses == ["Playing"])
        // Nothing between key events.
        usleep(1_000_000)
        #expect(monitor.messages().isEmpty)
        // Jumps, each signalled once and exactly.
        installation.control("pause")
        installation.control("seek", "30")
        #expect(monitor.signals().compactMap(\.seeked) == [30_000_000])
        installation.control("seek", "+5")
        installation.playerctl("position", "12.5")
        signals = monitor.signals()
        #expect(signals.compactMap(\.seeked) == [35_000_000, 12_500_000])
        #expect(signals.count == 2)
        // The same state is no news, and neither are play and pause for the position.
        installation.control("pause")
        installation.control("play")
        installation.control("pause")
        installation.control("stop")
        #expect(monitor.signals().allSatisfy { $0.seeked == nil && $0.changed?["PlaybackStatus"] != nil })
    }

    @Test func theListOfTracks() async throws {
        let installation = await Installation.running()
        let files = (0..<3).map { installation.silence("\($0).wav") }
        installation.control("add", files[0], files[1])
        func call(_ method: String, _ arguments: String...) -> String {
            let words =
                ["busctl", "--user", "call", "org.mpris.MediaPlayer2.nowplayingd", "/org/mpris/MediaPlayer2"]
                + ["org.mpris.MediaPlayer2.TrackList", method]
            let result = TestProcess.run(words + arguments, environment: installation.environment)
            return result.status == 0 ? result.text : "status \(result.status)"
        }
        func tracks() -> [Substring] {
            installation.run(
                "busctl", "--user", "get-property", "org.mpris.MediaPlayer2.nowplayingd", "/org/mpris/MediaPlayer2",
                "org.mpris.MediaPlayer2.TrackList", "Tracks"
            ).text.split(separator: " ").dropFirst(2).map { $0.dropFirst().dropLast() }
        }
        #expect(tracks() == ["/nowplayingd/track/1", "/nowplayingd/track/2"])
        let monitor = await BusMonitor(installation)
        #expect(call("AddTrack", "sob", "file://\(files[2])", "/nowplayingd/track/1", "false") == "")
        #expect(tracks() == ["/nowplayingd/track/1", "/nowplayingd/track/3", "/nowplayingd/track/2"])
        // The titles and durations of the files are read meanwhile.
        func signals() -> [String] {
            monitor.signals().filter {
                $0["interface"]?.stringValue?.hasSuffix(".TrackList") == true && $0["member"] != "TrackMetadataChanged"
            }.map {
                let values = $0["payload"]?["data"]?.arrayValue ?? []
                return ([$0["member"]?.stringValue ?? ""] + values.map { JSONWriter.text($0) }).joined(separator: " ")
            }
        }
        let added = signals()
        #expect(added.count == 1 && added[0].hasPrefix("TrackAdded ") && added[0].contains("2.wav"))
        #expect(added[0].hasSuffix(#"} "/nowplayingd/track/1""#), "\(added)")
        #expect(call("GetTracksMetadata", "ao", "2", "/nowplayingd/track/3", "/nowplayingd/track/9").contains("2.wav"))
        #expect(call("GoTo", "o", "/nowplayingd/track/2") == "")
        #expect(installation.playerctl("metadata", "title") == "1")
        _ = signals()
        #expect(call("RemoveTrack", "o", "/nowplayingd/track/1") == "")
        #expect(tracks() == ["/nowplayingd/track/3", "/nowplayingd/track/2"])
        #expect(signals() == [#"TrackRemoved "/nowplayingd/track/1""#])
        installation.control("call", "queue.move", #"{"ids": [2], "to": 0}"#)
        #expect(tracks() == ["/nowplayingd/track/2", "/nowplayingd/track/3"])
        let replaced = #"TrackListReplaced ["/nowplayingd/track/2","/nowplayingd/track/3"] "/nowplayingd/track/2""#
        #expect(signals() == [replaced])
        // Tracks that the list lacks are passed over.
        #expect(call("RemoveTrack", "o", "/nowplayingd/track/99") == "")
        #expect(call("GoTo", "o", "/elsewhere") == "")
        #expect(call("AddTrack", "sob", "file://\(files[2])", "/nowplayingd/track/99", "false") == "status 1")
    }
}
