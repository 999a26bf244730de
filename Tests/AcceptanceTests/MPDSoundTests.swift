import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Sound that clients of MPD cause, recorded: the address for announcements, and `elapsed` beside the audible frames.
    @Suite(.timeLimit(.minutes(5))) struct MPDSoundTests {
        private static let settings =
            "[announcements]\nduck-to = -26\n[sessions]\nduck-to = -20\nattack = 0.05\nrelease = 0.15\n"
        private static let release = 0.15
        private static let rate = 44100.0
        /// Seconds of an announcement.
        private static let words = 0.6
        /// Seconds by which the recorder's idea of an instant may be off.
        private static let noise = 0.02

        init() { LoopThread.start() }

        /// A bridge beside this daemon, with the local sockets `mpd.sock` and, for announcements, `voice.sock`.
        private func bridge(_ place: RecordedSink) async -> TestProcess {
            let folder = place.daemon.folder
            let settings = "[mpd]\nbind = \(folder.path("mpd.sock"))\nannounce-bind = \(folder.path("voice.sock"))\n"
            let file = folder.write(Array(settings.utf8), "mpd.conf")
            let words = [RealDaemon.program("nowplaying-mpd"), "--socket", place.daemon.socket, "--config", file]
            let process = await LoopThread.run { TestProcess(words) }
            precondition(
                becomes {
                    (try? LineClient(folder.path("mpd.sock")).value("volume", of: "status")) != nil
                }, "the bridge did not come up")
            return process
        }

        @Test("an announcement by its address ducks the music, which goes on without a lost frame") func announcement()
            async throws
        {
            let place = await RecordedSink.start(TestSink("mpd-voice"), settings: Self.settings)
            let folder = place.daemon.folder
            let bridge = await bridge(place)
            defer { bridge.end() }
            let follower = place.follow()
            let music = try LineClient(folder.path("mpd.sock"))
            #expect(try music.ask("add \(folder.codeWave("music.wav", from: 0, count: 44100 * 60))") == ["OK"])
            let hush = folder.silence("hush.wav", seconds: Self.words, rate: 44100, channels: 2)
            let first = place.waits()
            #expect(try music.ask("play") == ["OK"])
            await place.recorder.waitFor(more: 0.5)
            // The position at an instant between the request and the answer.
            var readings: [(time: Double, elapsed: Double)] = []
            for _ in 0..<20 {
                let begin = now()
                let elapsed = Double(try music.value("elapsed", of: "status") ?? "") ?? -1
                readings.append(((begin + now()) / 2, elapsed))
                await place.recorder.waitFor(more: 0.03)
            }
            let before = try #require(follower.call("nowPlaying.get"))
            let voice = try LineClient(folder.path("voice.sock"))
            for line in ["clear", "add \(hush)"] { #expect(try voice.ask(line) == ["OK"]) }
            let begin = now()
            #expect(try voice.ask("play") == ["OK"])
            while try voice.value("state", of: "status") != "stop" { _ = try voice.ask("idle player") }
            // The level returns later where no thread had a processor.
            let end = now() + place.waits().seconds(since: first)
            #expect(end - begin > Self.words - 0.01, "it ended before it was heard")
            await place.recorder.waitFor(more: end - now() + Self.release + AnnouncementTable.tail + 0.3)
            let after = try #require(follower.call("nowPlaying.get"))
            #expect(after["item"] == before["item"] && after["session"] == before["session"])
            place.recorder.stop()
            let waited = place.waits().seconds(since: first)
            let recording = CodeRecording(place.recorder, rate: Self.rate)
            let row = AnnouncementTable.Row(
                name: "by MPD's protocol", before: before, after: after, during: .plays(0.1), begin: begin, end: end,
                base: 0,
                words: AnnouncementTable.Words(uri: .string(hush), seconds: Self.words), volume: 1, waited: waited)
            AnnouncementJudge(row, recording, release: Self.release, noise: Self.noise, step: 0.02).judge()
            judge(readings, recording, waited)
        }

        /// Compares readings of `elapsed` with the frames that were audible then.
        private func judge(_ readings: [(time: Double, elapsed: Double)], _ recording: CodeRecording, _ waited: Double)
        {
            let errors = readings.compactMap { reading -> Double? in
                let frames = recording.frames(reading.time...reading.time + 0.002)
                guard let number = recording.numbers(frames).first, number >= 0 else { return nil }
                return abs(reading.elapsed - Double(number) / Self.rate)
            }.sorted()
            #expect(errors.count > readings.count / 2)
            guard let error = errors.dropFirst(errors.count / 2).first else { return }
            if environmentHas("NOWPLAYING_FIGURES") { print("elapsed is off by \(error * 1000) ms") }
            #expect(error < Self.noise + waited, "elapsed is off by \(error) s")
        }
    }
}
