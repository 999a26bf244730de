import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Advertisements and chapters, published when they are audible; without a sound server.
    @Suite(.timeLimit(.minutes(5))) struct MarkTests {
        @Test("the position stands still while an advertisement is heard, and it can't be skipped")
        func advertisements() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.silences(2).arrayValue?.first ?? .null
            client.call(
                "queue.add",
                [
                    "items": [
                        [
                            "uri": file,
                            "adTimeRanges": [["start": 0.3, "duration": 0.4], ["start": 1.2, "duration": 0.3]],
                            "chapters": [["start": 0], ["start": 0.5, "title": "second"]],
                        ]
                    ], "play": true,
                ])
            let play = client.event("play")
            #expect(play["item"]?["duration"]?.doubleValue == 1.3)
            #expect(play["ad"] == .null)
            #expect(play["item"]?["chapterIndex"] == 0)
            let began = client.event("ad-began", "ad-ended", "chapter", "drift")
            #expect(began.words == "ad-began")
            #expect(began.rate == 0)
            #expect(began.playing == "playing")
            #expect(abs(began.elapsed - 0.3) < 1e-6)
            // Positions that disagree by more than 2 ms are published as `drift`.
            #expect(abs(play.position(at: began.monotonic) - 0.3) < 0.002)
            #expect(began["ad"]?["index"] == 0)
            let ends = try #require(began["ad"]?["endsMonotonic"]?.doubleValue)
            #expect(abs(ends - began.monotonic - 0.4) < 1e-6)
            let commands = client.call("commands.list")?["commands"]?.arrayValue ?? []
            let refused = commands.filter { $0["reason"] == "advertisement" }.compactMap { $0["command"]?.stringValue }
            #expect(
                Set(refused) == [
                    "skipForward", "skipBackward", "seekForward", "seekBackward", "changePlaybackPosition",
                    "changePlaybackRate",
                ])
            #expect(client.refusal("skipForward") == "200 disabled")
            #expect(client.refusal("changePlaybackPosition", ["position": 1]) == "200 disabled")
            #expect(client.refusal("changePlaybackRate", ["rate": 2]) == "200 disabled")
            let ended = client.event("ad-began", "ad-ended", "chapter", "drift", "seek")
            #expect(ended.words == "ad-ended")
            #expect(abs(ended.monotonic - ends) < 0.002)
            #expect(abs(ended.elapsed - 0.3) < 1e-6)
            #expect(ended.rate == 1)
            #expect(ended["ad"] == .null)
            #expect(ended["commandsVersion"] != began["commandsVersion"])
            let chapter = client.event("ad-began", "chapter")
            #expect(chapter.words == "chapter")
            #expect(abs(chapter.elapsed - 0.5) < 1e-6)
            #expect(abs(ended.position(at: chapter.monotonic) - 0.5) < 0.002)
            #expect(chapter["item"]?["chapterIndex"] == 1)
            // A seek over an unheard advertisement goes to its start.
            client.call("changePlaybackPosition", ["position": 1.25])
            let seek = client.event("seek")
            #expect(abs(seek.elapsed - 0.8) < 1e-4)
            #expect(seek["ad"]?["index"] == 1)
            #expect(seek.rate == 0)
            let second = client.events(until: "stop ended")
            #expect(second == ["ad-began", "ad-ended", "stop ended"])
        }

        @Test("seeking forward over what was heard goes on; a beginning is heard with what comes before the content")
        func heard() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.silences(60).arrayValue?.first ?? .null
            client.call(
                "queue.add",
                ["items": [["uri": file, "adTimeRanges": [["start": 0, "duration": 0.2]]]], "play": true])
            #expect(client.events(until: "ad-ended") == ["queue", "play", "ad-began", "ad-ended"])
            client.call("changePlaybackPosition", ["position": 0])
            let seek = client.event()
            #expect(seek.words == "seek")
            #expect(seek["ad"] == .null)
            client.call("pause")
            client.call("item.update", ["id": 1, "adTimeRanges": [["start": 0, "duration": 30]]])
            _ = client.event("pause")
            let update = client.event("metadata")
            #expect(update["ad"]?["index"] == 0)
            #expect(update["item"]?["duration"]?.doubleValue == 30)
            #expect(update.elapsed == 0)
        }

        @Test("a cue sheet beside a file that is added by itself says its chapters")
        func sheetBeside() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.silences(60).arrayValue?.first ?? .null
            daemon.folder.file(
                "0.cue",
                """
                FILE "0.wav" WAVE
                TRACK 01 AUDIO
                TITLE "One"
                INDEX 01 00:00:00
                TRACK 02 AUDIO
                TITLE "Two"
                INDEX 01 00:40:00
                """)
            client.call("queue.add", ["items": [file], "play": true])
            let chapters = client.event("play")["item"]?["chapters"]?.arrayValue ?? []
            #expect(chapters.map { $0["title"]?.stringValue } == ["One", "Two"])
            #expect(chapters.map { $0["start"]?.doubleValue } == [0, 40])
            client.call("changePlaybackPosition", ["position": 41])
            #expect(client.event("seek")["item"]?["chapterIndex"] == 1)
        }

        @Test("a button that is held down scans faster and faster, and ends with its client")
        func scanning() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": daemon.silences(120), "play": true])
            client.call("changePlaybackPosition", ["position": 60])
            _ = client.event("seek")
            var holder: Client? = daemon.connect()
            #expect(holder?.call("seekForward", ["phase": "begin"])?["status"] == "success")
            let begun = client.event("rate")
            #expect(begun.rate == 2)
            let faster = client.event("rate", "seek")
            #expect(faster.rate == 4)
            #expect(abs(faster.elapsed - begun.elapsed - 4) < 0.3)
            holder = nil
            let ended = client.event("rate", "seek")
            #expect(ended.words == "seek")
            #expect(ended.rate == 1)
            client.call("changePlaybackPosition", ["position": 0.5])
            _ = client.event("seek")
            #expect(client.call("seekBackward", ["phase": "begin"])?["status"] == "success")
            #expect(client.event("rate").rate == -2)
            // The beginning is where it ends by itself.
            let beginning = client.event("rate", "seek", "track", "stop")
            #expect(beginning.words == "seek")
            #expect(beginning.elapsed < 0.05)
            #expect(beginning.rate == 1)
            #expect(client.call("seekBackward", ["phase": "end"])?["status"] == "success")
            #expect(client.events().isEmpty)
        }
    }
}
