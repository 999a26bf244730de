import ControlProtocol
import TestSupport
import Testing

extension Acceptance {
    /// The remote commands, their answers and the key events that they cause, without a sound server.
    @Suite(.timeLimit(.minutes(5))) struct CommandTests {
        /// A daemon with silent items of these lengths in its queue, and a client that follows it.
        private func queue(_ seconds: Double...) async -> (RealDaemon, Client) {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let files = seconds.indices.map { daemon.folder.silence("\($0).wav", seconds: seconds[$0]) }
            client.call("queue.add", ["items": .array(files.map(JSONValue.string))])
            #expect(client.events() == ["queue"])
            return (daemon, client)
        }

        @Test("each change is one event, one that holds already is none, and answers name the event")
        func oneEventEach() async throws {
            let (daemon, client) = await queue(60, 60)
            // Command, state that it leads to, event.
            let steps = [
                ("pause", "stopped", ""), ("stop", "stopped", ""), ("play", "playing", "play"),
                ("play", "playing", ""), ("pause", "paused", "pause"), ("pause", "paused", ""),
                ("togglePlayPause", "playing", "play"), ("togglePlayPause", "paused", "pause"),
                ("play", "playing", "play"), ("stop", "stopped", "stop command"), ("stop", "stopped", ""),
                ("pause", "stopped", ""), ("togglePlayPause", "playing", "play"), ("stop", "stopped", "stop command"),
            ]
            var sequence = try #require(client.call("nowPlaying.get")).sequence
            for (command, state, event) in steps {
                let answer = try #require(client.call(command), "\(command)")
                let events = client.notifications
                #expect(client.events() == (event.isEmpty ? [] : [event]), "\(command)")
                if !event.isEmpty { sequence += 1 }
                #expect(answer["status"] == "success")
                #expect(answer.playing == state)
                #expect(answer.sequence == sequence)
                #expect(answer.rate == (state == "playing" ? 1 : 0))
                // The event that the answer names came before it, with the same anchor.
                if !event.isEmpty {
                    #expect(events.last?.sequence == sequence)
                    #expect(events.last?["anchor"] == answer["anchor"])
                    #expect(events.last?["by"]?["pid"]?.integerValue ?? 0 > 0)
                }
            }
            let state = try #require(client.call("nowPlaying.get"))
            #expect(state.sequence == sequence)
            #expect(state.itemID == 1)
            #expect(state.elapsed == 0)
            #expect(state["queue"]?["index"] == 0)
            #expect(daemon.stop() == 0)
        }

        @Test("next and previous keep playing or paused; next on the last item ends; play begins at the first")
        func nextAndPrevious() async throws {
            let (_, client) = await queue(60, 60, 60)
            func step(_ command: String, _ event: String, _ item: Int64?, _ state: String) throws {
                let answer = try #require(client.call(command))
                #expect(client.events() == [event], "\(command)")
                let now = try #require(client.call("nowPlaying.get"))
                #expect(now.itemID == item, "\(command)")
                #expect(answer.playing == state)
                #expect(answer.elapsed < 0.5)
            }
            try step("play", "play", 1, "playing")
            try step("nextTrack", "track next", 2, "playing")
            try step("previousTrack", "track previous", 1, "playing")
            try step("previousTrack", "track previous", 1, "playing")
            try step("nextTrack", "track next", 2, "playing")
            client.call("changePlaybackPosition", ["position": 10])
            #expect(client.events() == ["seek"])
            try step("previousTrack", "track previous", 2, "playing")
            client.call("pause")
            #expect(client.events() == ["pause"])
            try step("nextTrack", "track next", 3, "paused")
            try step("previousTrack", "track previous", 2, "paused")
            try step("nextTrack", "track next", 3, "paused")
            try step("nextTrack", "stop next", nil, "stopped")
            #expect(client.call("nowPlaying.get")?["queue"]?["index"] == .null)
            #expect(client.refusal("changePlaybackPosition", ["position": 1]) == "110")
            try step("play", "play", 1, "playing")
            // How often each item began.
            #expect(client.call("nowPlaying.get")?["item"]?["play"] == 4)
        }

        @Test("skips move by what was asked for, or the first preferred interval; past the end is next")
        func skips() async throws {
            let (_, client) = await queue(60, 60)
            client.call("play")
            client.call("pause")
            #expect(client.events() == ["play", "pause"])
            let start = try #require(client.call("nowPlaying.get")).elapsed
            let first = try #require(client.call("skipForward"))
            #expect(abs(first.elapsed - start - 15) < 0.001)
            let second = try #require(client.call("skipForward", ["interval": 30.5]))
            #expect(abs(second.elapsed - start - 45.5) < 0.001)
            let third = try #require(client.call("skipBackward"))
            #expect(third.elapsed < second.elapsed - 4)
            #expect(client.call("skipBackward", ["interval": 1000])?.elapsed == 0)
            #expect(client.events() == ["seek", "seek", "seek", "seek"])
            #expect(client.call("skipForward", ["interval": 60])?.elapsed == 0)
            #expect(client.events() == ["track next"])
            #expect(client.call("nowPlaying.get")?.itemID == 2)
            #expect(client.call("skipForward", ["interval": 1000])?.playing == "stopped")
            #expect(client.events() == ["stop next"])
            #expect(client.refusal("skipForward", ["interval": 0]) == "-32602")
            #expect(client.refusal("skipBackward", ["interval": -5]) == "-32602")
        }

        @Test("seeking while stopped sets where play begins; outside the item it is refused")
        func seekWhileStopped() async throws {
            let (_, client) = await queue(60)
            client.call("play")
            client.call("stop")
            #expect(client.events() == ["play", "stop command"])
            let answer = try #require(client.call("changePlaybackPosition", ["position": 12.25]))
            #expect(answer.playing == "stopped")
            #expect(answer.elapsed == 12.25)
            #expect(client.events() == ["seek"])
            #expect(client.refusal("changePlaybackPosition", ["position": 60.5]) == "200 outOfRange")
            #expect(client.refusal("changePlaybackPosition", ["position": -0.5]) == "-32602")
            let play = try #require(client.call("play"))
            #expect(play.elapsed >= 12.25 && play.elapsed < 13)
            #expect(client.refusal("changePlaybackPosition", ["position": 60.5]) == "200 outOfRange")
            #expect(client.refusal("play", ["position": 61]) == "200 outOfRange")
            #expect(
                client.error("play", ["position": 61])?["message"]
                    == "the position 61 s is outside the item, which is 60 s long")
            #expect(client.events() == ["play"])
            // The set position is published: stop resets it.
            client.call("stop")
            client.call("changePlaybackPosition", ["position": 5])
            #expect(client.events() == ["stop command", "seek"])
            client.call("stop")
            let stopped = try #require(client.call("nowPlaying.get"))
            #expect(stopped.elapsed == 0)
            #expect(stopped.playing == "stopped")
        }

        @Test("play of an item, a place and a position")
        func playSomething() async throws {
            let (_, client) = await queue(60, 60, 60)
            let third = try #require(client.call("play", ["itemId": 3, "position": 20]))
            #expect(third.elapsed >= 20 && third.elapsed < 21)
            #expect(client.call("nowPlaying.get")?.itemID == 3)
            client.call("play", ["index": 1])
            #expect(client.call("nowPlaying.get")?.itemID == 2)
            #expect(client.events() == ["play", "track jump"])
            client.call("pause")
            let moved = try #require(client.call("play", ["position": 30]))
            #expect(moved.playing == "playing")
            #expect(moved.elapsed >= 30 && moved.elapsed < 31)
            #expect(client.events().first == "pause")
            #expect(client.refusal("play", ["index": 3]) == "100")
            #expect(client.refusal("play", ["itemId": 99]) == "100 noSuchItem")
            #expect(client.refusal("play", ["itemId": 1, "index": 1]) == "-32602")
            #expect(client.events() == [])
        }
    }
}
