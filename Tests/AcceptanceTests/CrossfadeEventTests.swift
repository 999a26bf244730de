import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Events in the middle of an overlap, against the recording of the sound.
    ///
    /// Items are constant signals, those with even numbers on the left, the others on the right. The level of a channel names
    /// the frame of its item within the overlap.
    @Suite(.timeLimit(.minutes(5))) struct CrossfadeEventTests {
        init() { LoopThread.start() }

        private static let overlap = 2
        private static let seconds = 6
        /// Frames that a null sink renders at once.
        private static let block = 2205

        /// Adds constant items and plays them with an overlap, until the second one begins.
        private func play(_ count: Int, _ client: Client, _ daemon: RealDaemon) {
            begin(count, client, daemon, rate: 44_100)
            _ = client.event("track")
        }

        /// Adds constant items and plays them with an overlap.
        private func begin(_ count: Int, _ client: Client, _ daemon: RealDaemon, rate: Int) {
            client.call("nowPlaying.subscribe")
            client.call("crossfade.set", ["seconds": .integer(Int64(Self.overlap))])
            let files = (0..<count).map { number -> JSONValue in
                let frame = number % 2 == 0 ? [ConstantSignals.level, 0] : [0, ConstantSignals.level]
                let samples = (0..<(Self.seconds * rate)).flatMap { _ in frame }
                let material = AudioMaterial(sampleRate: rate, channels: 2, bits: 16, samples: samples)
                return .string(daemon.folder.write(material.wave(), "\(number).wav"))
            }
            client.call("queue.add", ["items": .array(files), "play": true])
        }

        @Test("a pause loses no frame of either item, rests where both are, and they end as if it had not been")
        func pause() async throws {
            let place = await RecordedSink.start(TestSink("overlap-pause"))
            let client = place.daemon.connect()
            play(2, client, place.daemon)
            await place.recorder.waitFor(more: 0.7)
            let paused = try #require(client.call("pause"))
            await place.recorder.waitFor(more: 0.3)
            #expect(client.call("play")?.playing == "playing")
            #expect(client.event("stop").words == "stop ended")
            await place.recorder.waitFor(more: 0.3)
            place.recorder.stop()
            let heard = ConstantSignals(place.recorder, overlap: Self.overlap)
            for channel in 0...1 {
                let gap = try #require(heard.gaps(channel).first, "no silence on channel \(channel)")
                let (before, after) = (
                    heard.place(channel, endingAt: gap.lowerBound), heard.place(channel, from: gap.upperBound)
                )
                #expect(abs(after - before) < 3, "channel \(channel) loses \(after - before) frames")
                #expect(heard.gaps(channel).count == 1)
                if channel == 1 { #expect(abs(before - paused.elapsed * 44_100) < 3, "\(before) \(paused.elapsed)") }
            }
            // Each channel has all frames of its item; the first and last of a fade are too quiet for 16 bit.
            for channel in 0...1 { #expect(abs(heard.count(channel) - Self.seconds * 44_100) < 30) }
        }

        @Test("a seek and a jump end the other item, and what comes is heard to its last frame at its full level")
        func jumps() async throws {
            for method in ["changePlaybackPosition", "nextTrack"] {
                let place = await RecordedSink.start(TestSink("overlap-" + method))
                let client = place.daemon.connect()
                play(3, client, place.daemon)
                await place.recorder.waitFor(more: 0.7)
                let isSeek = method == "changePlaybackPosition"
                if isSeek { client.call("queue.remove", ["ids": [3]]) }
                let ahead = place.waits()
                let answer = try #require(client.call(method, isSeek ? ["position": 3] : [:]))
                #expect(answer.playing == "playing" && abs(answer.elapsed - (isSeek ? 3 : 0)) < 0.1)
                #expect(client.event("stop").words == "stop ended")
                await place.recorder.waitFor(more: 0.3)
                place.recorder.stop()
                let heard = ConstantSignals(place.recorder, overlap: Self.overlap)
                let channel = isSeek ? 1 : 0
                let full = heard.fullAtEnd(channel)
                // Frames that wait for a processor come after the server has played others in their place.
                let waited = Int(place.waits().seconds(since: ahead) * 44_100)
                let missing = (isSeek ? 3 : Self.seconds) * 44_100 - full.count
                #expect((0...waited).contains(missing), "\(method): \(missing) frames, waited \(waited)")
                #expect(heard.isSilent(1 - channel, full), "\(method): the other item goes on")
            }
        }

        @Test("under an announcement the overlap goes on, quieter, and loses no frame") func announcement() async throws
        {
            let place = await RecordedSink.start(TestSink("overlap-announcement"))
            let client = place.daemon.connect()
            play(2, client, place.daemon)
            await place.recorder.waitFor(more: 0.3)
            let hush = place.daemon.folder.silence("hush.wav", seconds: 0.4, rate: 44_100, channels: 2)
            #expect(client.call("announce", ["uri": .string(hush), "duckTo": -20])?["status"] == "success")
            #expect(client.event("stop").words == "stop ended")
            await place.recorder.waitFor(more: 0.3)
            place.recorder.stop()
            let heard = ConstantSignals(place.recorder, overlap: Self.overlap)
            for channel in 0...1 {
                #expect(abs(heard.count(channel) - Self.seconds * 44_100) < 30, "\(heard.count(channel))")
            }
            #expect(heard.leastPower < 0.02, "it gets quieter: \(heard.leastPower)")
        }

        @Test("a sound server that dies in the middle of an overlap: the next item goes on where the clock stood")
        func killedServer() async throws {
            let sink = TestSink("sink")
            let server = await SoundServer.pulseAudio([sink])
            let daemon = await RealDaemon.start(server)
            let recorder = await Recorder.start(server, sink)
            let client = daemon.connect()
            play(2, client, daemon)
            await recorder.waitFor(more: 0.7)
            server.kill()
            #expect(client.event("stall").playing == "stalled")
            let paused = try #require(client.call("pause"))
            let before = ConstantSignals(recorder, overlap: Self.overlap)
            let last = before.place(1, endingAt: before.end(1))
            #expect(abs(last - paused.elapsed * 44_100) < 0.03 * 44_100, "\(last) \(paused.elapsed)")
            await server.startPulseAudio([sink])
            let again = await Recorder.start(server, sink)
            let ahead = server.waits(and: [daemon.process.pid])
            #expect(client.call("play")?.playing == "playing")
            #expect(client.event("stop").words == "stop ended")
            let waited = server.waits(and: [daemon.process.pid]).seconds(since: ahead)
            await again.waitFor(more: 0.3)
            let heard = ConstantSignals(again, overlap: Self.overlap)
            let first = heard.place(1, from: heard.begin(1))
            #expect(abs(first - paused.elapsed * 44_100) < 3, "\(first) \(paused.elapsed)")
            #expect(abs(heard.count(1) - (Self.seconds * 44_100 - Int(first))) < 30)
            // The item that goes resumes at its next frame. Its stream may begin one block of the sink after the other one.
            let begin = heard.loud(0)
            let between = Double(abs(begin - heard.loud(1))) / 44_100
            #expect(between <= Double(Self.block) / 44_100 + waited, "\(between) s, waited \(waited) s")
            let other = heard.place(0, from: begin)
            #expect(abs(other - before.place(0, endingAt: before.end(0))) < 0.03 * 44_100, "\(other)")
            #expect(abs(heard.end(0) - begin - (2 * 44_100 - Int(other))) < 30, "\(heard.end(0)) \(begin) \(other)")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("on PipeWire items overlap to a quantum, with equal power, and the next is published as it is heard")
        func pipeWire() async throws {
            ProcessorPriority.raise()
            let server = await SoundServer.pipeWire(sink: "sink")
            let daemon = await RealDaemon.start(server)
            let recorder = await Recorder.start(server, TestSink("sink", rate: 48_000))
            let client = daemon.connect()
            begin(2, client, daemon, rate: 48_000)
            // Up to shortly before the overlap, whose start is asked for a quantum ahead.
            await recorder.waitFor(more: Double(Self.seconds - Self.overlap) - 0.3)
            let ahead = server.waits(and: [daemon.process.pid])
            _ = client.event("track")
            let begun = now()
            let waited = Int(server.waits(and: [daemon.process.pid]).seconds(since: ahead) * 48_000)
            #expect(client.call("nowPlaying.get")?.position(at: begun) ?? 9 < 0.1)
            #expect(client.event("stop").words == "stop ended")
            await recorder.waitFor(more: 0.5)
            recorder.stop()
            let heard = ConstantSignals(recorder, overlap: Self.overlap, rate: 48_000)
            let moved = abs(heard.mixed - Self.overlap * 48_000)
            // A request that waits for a processor is carried out a cycle or more later.
            #expect(moved <= PipeWireTests.quantum + waited, "\(moved), waited \(waited)")
            // The two curves are moved by so much against each other.
            let tolerance = 0.01 + sin(Double(moved) * .pi / 2 / Double(Self.overlap * 48_000))
            #expect(heard.worstPower < tolerance, "\(heard.worstPower) \(tolerance)")
            for channel in 0...1 {
                #expect(
                    abs(heard.count(channel) - Self.seconds * 48_000) <= PipeWireTests.quantum,
                    "\(heard.count(channel))")
            }
            if environmentHas("NOWPLAYING_FIGURES") {
                print("PipeWire: power \(heard.worstPower), moved \(moved) frames, waited \(waited)")
            }
            #expect(daemon.stop() == 0)
            server.stop()
        }

        /// Items of one recording: the seconds of the crossfade, and true if they are two tracks of an album.
        @Test(
            "an album in order, and a crossfade of 0, change no sample; other items overlap",
            arguments: [(5, true), (0, false), (5, false)])
        func samples(_ seconds: Int, _ isAlbum: Bool) async throws {
            let place = await RecordedSink.start(TestSink("overlap-none-\(seconds)-\(isAlbum)"))
            let client = place.follow()
            client.call("crossfade.set", ["seconds": .integer(Int64(seconds))])
            let parts = (1...2).map { AudioMaterial.waves(frames: 150_000, seed: $0) }
            let files = try parts.enumerated().map { number, part -> JSONValue in
                let path = place.daemon.folder.write(part.flac(), "\(number).flac")
                let tags = ["--set-tag=ALBUM=Partita", "--set-tag=TRACKNUMBER=\(number + 1)", path]
                if isAlbum { try #require(AudioMaterial.run("metaflac", tags) == 0) }
                return .string(path)
            }
            client.call("queue.add", ["items": .array(files), "play": true])
            #expect(client.event("stop").words == "stop ended")
            await place.recorder.waitFor(more: 0.2)
            place.recorder.stop()
            let expected = parts.flatMap(\.int16)
            let heard = int16Samples(place.recorder.bytes())
            let start = try #require(heard.firstIndex { $0 != 0 }) / 2 * 2
            let lead = try #require(expected.firstIndex { $0 != 0 }) / 2 * 2
            let isSame = heard[start...].starts(with: expected[lead...])
            #expect(isSame == (isAlbum || seconds == 0))
        }
    }
}

/// A recording of constant signals that overlap with equal power, one on each channel.
struct ConstantSignals {
    /// Sample of an item.
    static let level: Int32 = 20_000
    /// Frames over which a place is averaged.
    private static let window = 1000

    private let samples: [Int16]
    /// Frames of an overlap.
    private let length: Double
    private var frames: Int { samples.count / 2 }

    /// The recording so far, of items that overlap by so many seconds.
    init(_ recorder: Recorder, overlap: Int, rate: Int = 44_100) {
        samples = int16Samples(recorder.bytes())
        length = Double(overlap * rate)
    }

    private func value(_ channel: Int, _ frame: Int) -> Double {
        Double(samples[2 * frame + channel]) / Double(Self.level)
    }

    /// True if the item of a channel is audible there: the fade of the other item leaves dither of two steps on it.
    private func isHeard(_ channel: Int, _ frame: Int) -> Bool { samples[2 * frame + channel] > 2 }

    /// First recorded frame of a channel, and the one after its last.
    func begin(_ channel: Int) -> Int { (0..<frames).first { isHeard(channel, $0) } ?? 0 }
    func end(_ channel: Int) -> Int { ((0..<frames).last { isHeard(channel, $0) } ?? -1) + 1 }

    /// First recorded frame of a channel that is louder than the dither of the other item.
    func loud(_ channel: Int) -> Int { (0..<frames).first { samples[2 * $0 + channel] > 100 } ?? 0 }

    /// Silences of a channel between its first and last frame, of a hundredth of a second at least.
    func gaps(_ channel: Int) -> [Range<Int>] {
        var (result, last) = ([Range<Int>](), -1)
        for frame in begin(channel)..<end(channel) where isHeard(channel, frame) {
            if last >= 0, frame - last > 441 { result.append(last + 1..<frame) }
            last = frame
        }
        return result
    }

    /// Number of audible frames of a channel.
    func count(_ channel: Int) -> Int { (0..<frames).count { isHeard(channel, $0) } }

    /// Frame of the overlap at which a channel is at a recorded frame that it comes to, or comes from: by the level of the
    /// frames before or after it.
    func place(_ channel: Int, endingAt frame: Int) -> Double {
        place(channel, frame - Self.window, Double(Self.window))
    }
    func place(_ channel: Int, from frame: Int) -> Double { place(channel, frame, 0) }

    private func place(_ channel: Int, _ first: Int, _ distance: Double) -> Double {
        guard first >= 0, first + Self.window <= frames else { return .nan }
        let sum = (first..<first + Self.window).reduce(0.0) { sum, frame in
            let level = max(0, min(1, value(channel, frame)))
            // The item on the right comes, the one on the left goes.
            return sum + (channel == 1 ? asin(level) : acos(level)) * 2 / .pi * length - Double(frame - first)
        }
        return sum / Double(Self.window) + distance
    }

    /// The last stretch of a channel at its full level.
    func fullAtEnd(_ channel: Int) -> Range<Int> {
        let end = end(channel)
        let first = (0..<end).last { samples[2 * $0 + channel] != Int16(Self.level) } ?? -1
        return first + 1..<end
    }

    /// True if a channel is silent in these recorded frames.
    func isSilent(_ channel: Int, _ range: Range<Int>) -> Bool { !range.contains { isHeard(channel, $0) } }

    /// Frames in which both items are audible, and their greatest error of power.
    var mixed: Int { (0..<frames).count { isHeard(0, $0) && isHeard(1, $0) } }
    private var powers: [Double] {
        (begin(0)..<end(1)).map { value(0, $0) * value(0, $0) + value(1, $0) * value(1, $0) }
    }
    var worstPower: Double { powers.map { abs($0 - 1) }.max() ?? .infinity }
    var leastPower: Double { powers.min() ?? .infinity }
}
