import ControlProtocol
import Glibc
import LibraryRuntime
import LinuxSystem
import NowPlaying
import TestSupport
import Testing
import TrackDatabase

/// The library's connection to the real daemon: it follows restarts, mirrors feedback, and sleeps at rest.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DaemonLinkTests {
    /// A link, with its reports.
    @PlayerLoop private final class Follower {
        let link: DaemonLink
        private(set) var playing: [Bool] = []
        private(set) var changes = 0

        init(_ house: DaemonHouse) throws {
            let writer = house.writer
            let mirror = FeedbackMirror { change, then in writer.perform(change, then: then) }
            link = try DaemonLink(EventLoop.current, paths: [house.socket], mirror: mirror)
            mirror.onChange = { [unowned self] in changes += 1 }
            link.onPlaying = { [unowned self] in playing.append($0) }
        }
    }

    /// True as soon as something holds on the loop; false: it did not within 20 s.
    private func until(_ condition: @escaping @PlayerLoop @Sendable () -> Bool) async -> Bool {
        let end = EventLoop.now.advanced(bySeconds: 20)
        while EventLoop.now < end {
            if await LoopThread.run({ condition() }) { return true }
            await Task.yield()
        }
        return false
    }

    @Test func feedbackComesOnceAndThenWithEachChange() async throws {
        let house = try await DaemonHouse()
        let (one, two) = (house.wave("one.wav", seed: 1), house.wave("two.wav", seed: 2))
        try house.add(one)
        await house.start()
        do {
            let client = try RawClient(house.socket)
            _ = try client.call("feedback.set", ["uri": .string(one), "rating": 4, "like": true])
            _ = try client.call("feedback.set", ["uri": .string(two), "dislike": true])
        }
        let follower = try await LoopThread.run { try Follower(house) }
        #expect(await until { follower.changes == 1 })
        #expect(try house.feedback("one.wav")?.rating == 4 && house.feedback("one.wav")?.liked == true)
        // Answers to hello, to both subscriptions and to one question for changes.
        #expect(await until { follower.link.messageCount == 4 })
        // The content of a track becomes known after its feedback.
        try house.add(two, isKnown: false)
        #expect(try house.feedback("two.wav") == TrackFeedback())
        try house.add(two)
        #expect(try house.feedback("two.wav")?.liked == false)
        // A change is one message and one write.
        let client = try RawClient(house.socket)
        _ = try client.call("feedback.set", ["uri": .string(one), "rating": nil])
        #expect(await until { follower.changes == 2 })
        #expect(try house.feedback("one.wav")?.rating == nil && house.feedback("one.wav")?.liked == true)
        #expect(await until { follower.link.messageCount == 5 })
        await LoopThread.run { follower.link.end() }
    }

    @Test func itFollowsADaemonThatIsKilled() async throws {
        let house = try await DaemonHouse()
        let one = house.wave("one.wav", seed: 1)
        try house.add(one)
        let follower = try await LoopThread.run { try Follower(house) }
        #expect(await LoopThread.run { follower.link.presence } == .absent)
        await house.start()
        #expect(await until { follower.link.presence == .connected && follower.link.messageCount == 4 })
        for stars in 1...3 {
            let client = try RawClient(house.socket)
            _ = try client.call("feedback.set", ["uri": .string(one), "rating": .integer(Int64(stars))])
            #expect(await until { follower.changes == stars * 2 - 1 }, "\(stars)")
            #expect(try house.feedback("one.wav")?.rating == Double(stars))
            house.stop(SIGKILL)
            #expect(await until { follower.link.presence == .absent })
            // A change that the library did not see is there afterwards.
            await house.start()
            #expect(await until { follower.link.presence == .connected })
            let other = try RawClient(house.socket)
            _ = try other.call("feedback.set", ["uri": .string(one), "like": .bool(stars % 2 == 1)])
            #expect(await until { follower.changes == stars * 2 }, "\(stars)")
            #expect(try house.feedback("one.wav")?.liked == (stars % 2 == 1 ? true : nil))
        }
        // Another database of the daemon: nothing of the old one stays.
        house.stop(SIGTERM)
        for ending in ["", "-wal", "-shm"] { unlink(house.folder.path("state/feedback.db" + ending)) }
        await house.start()
        #expect(await until { follower.changes == 7 })
        #expect(try house.feedback("one.wav") == TrackFeedback())
        await LoopThread.run { follower.link.end() }
    }

    @Test func itSaysIfTheDaemonPlays() async throws {
        let house = try await DaemonHouse()
        await house.start()
        let noise = AudioMaterial.noise(frames: 8000 * 60, sampleRate: 8000, channels: 1)
        let long = house.folder.write(noise.wave(), "long.wav")
        let follower = try await LoopThread.run { try Follower(house) }
        let client = try RawClient(house.socket)
        _ = try client.call("play", ["uri": .string(long)])
        #expect(await until { follower.playing == [true] })
        _ = try client.call("pause")
        #expect(await until { follower.playing == [true, false] })
        // At rest nothing wakes: neither a message nor a wait of the loop.
        let before = await LoopThread.run { follower.link.messageCount }
        _ = try client.call("volume.set", ["volume": 0.5])
        _ = try client.call("changePlaybackPosition", ["position": 3])
        _ = try client.call("play")
        #expect(await until { follower.playing == [true, false, true] })
        #expect(await LoopThread.run { follower.link.messageCount } == before + 1)
        house.stop(SIGKILL)
        #expect(await until { follower.playing == [true, false, true, false] })
        await LoopThread.run { follower.link.end() }
    }
}
