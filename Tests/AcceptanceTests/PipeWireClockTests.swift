import ControlProtocol
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Anchors on PipeWire, which works in steps and gives the position of its last step as that of now.
    @Suite(.timeLimit(.minutes(5))) struct PipeWireClockTests {
        private static let rate = 48000
        private static let seeks = 8
        /// Largest distance in seconds of an anchor from the line of all.
        private static let limit = 0.002

        /// Anchor of an event beside the recording, in seconds.
        private struct Anchor: CustomStringConvertible {
            /// Seconds from the arrival of a frame at the recorder to its being audible by the anchor.
            var offset: Double
            /// Time for which threads of the daemon and of PipeWire waited for a processor from the commands to the anchors of
            /// its line so far.
            var waited: Double

            var description: String { "\(offset * 1000) (waited \(waited * 1000))" }
        }

        /// Events of a run, with the time that threads waited, and what was recorded of them.
        private struct Recording {
            var states: [(state: JSONValue, waited: Double)] = []
            let recorder: Recorder
            /// Instant of the first recorded frame in seconds.
            var origin: Double { recorder.time(ofFrame: 0).seconds(since: MonotonicTime(nanoseconds: 0)) }

            /// A recording without events.
            init(_ recorder: Recorder) { self.recorder = recorder }
        }

        /// Plays a file with seeks and pauses. `shortest`: seconds of the shortest stretch.
        private static func record(
            _ server: SoundServer, shortest: Double, _ makeFile: (TemporaryFolder) -> String
        ) async -> Recording {
            let daemon = await RealDaemon.start(server)
            let recorder = await Recorder.start(server, TestSink("sink", rate: rate))
            let file = makeFile(daemon.folder)
            var recording = Recording(recorder)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            // A report that waits is an error of the line that begins with it, until a higher reading comes.
            var waited = 0.0
            func note(_ event: String, begins: Bool, _ method: String, _ parameters: JSONValue = [:]) {
                let begin = server.waits(and: [daemon.process.pid])
                client.call(method, parameters)
                let state = client.event(event)
                let waits = server.waits(and: [daemon.process.pid]).seconds(since: begin)
                waited = begins ? waits : waited + waits
                recording.states.append((state, waited))
            }
            note("play", begins: true, "queue.add", ["items": [.string(file)], "play": true])
            for number in 0..<seeks {
                await recorder.waitFor(more: shortest + Double(number % 4) * 0.31)
                let position = JSONValue.number(Double(10 + 12 * number))
                note("seek", begins: false, "changePlaybackPosition", ["position": position])
                await recorder.waitFor(more: 0.5)
                client.call("pause")
                await recorder.waitFor(more: 0.2)
                note("play", begins: true, "play")
            }
            await recorder.waitFor(more: 0.5)
            recorder.stop()
            #expect(daemon.stop() == 0)
            return recording
        }

        /// The first anchors beside the recording; nil: the graph lost sound, or the recorder did.
        private static func play(_ server: SoundServer) async -> [Anchor]? {
            let recording = await record(server, shortest: 0.2) {
                $0.codeWave("a.wav", from: 0, count: rate * 120, rate: rate)
            }
            let runs = PositionCode.joined(await recording.recorder.runs())
            let states = recording.states
            guard runs.count == states.count, abs(recording.recorder.loss) < 0.001 else {
                print("PipeWire lost sound: \(runs.count) stretches of \(states.count), \(recording.recorder.loss) s")
                return nil
            }
            let origin = recording.origin
            return zip(states, runs).map { event, run in
                let heard = Double(run.recorded - run.frame) / Double(rate) + event.state.elapsed
                return Anchor(offset: event.state.monotonic - heard - origin, waited: event.waited)
            }
        }

        /// The same for a file that PipeWire resamples. The code does not survive that; tones that change each tenth of a second
        /// do, so that the offsets are known but for tenths.
        private static func playResampled(_ server: SoundServer) async -> [Anchor]? {
            let recording = await record(server, shortest: 0.5) { folder in
                let samples = ToneMarks.samples(seconds: 120).map { Int32($0) }
                return folder.write(
                    AudioMaterial(sampleRate: 44100, channels: 2, bits: 16, samples: samples).wave(), "a.wav")
            }
            guard abs(recording.recorder.loss) < 0.001 else { return nil }
            let changes = ToneMarks.changes(int16Samples(recording.recorder.bytes()), sampleRate: rate)
                .map { $0 / Double(rate) + recording.origin }
            let states = recording.states
            let ends = states.dropFirst().map(\.state.monotonic) + [.infinity]
            var found: [Anchor] = []
            for (event, end) in zip(states, ends) {
                let begin = event.state.monotonic
                // Changes of this stretch, and not those of its seams. The recorder is late by less than a quantum and a block.
                let positions = changes.filter { $0 > begin + 0.15 && $0 < min(begin + 0.45, end) }
                    .map { -event.state.position(at: $0) }
                let origin = found.first?.offset ?? tenths(positions.first ?? 0, since: 0)
                let offsets = positions.map { tenths($0, since: origin) }
                guard let first = offsets.first, offsets.allSatisfy({ abs($0 - first) < 0.001 }) else {
                    print("PipeWire lost sound: \(offsets) after \(begin)")
                    return nil
                }
                found.append(Anchor(offset: offsets.reduce(0, +) / Double(offsets.count), waited: event.waited))
            }
            return found
        }

        /// Seconds to the nearest tenth of a second after `origin`.
        private static func tenths(_ seconds: Double, since origin: Double) -> Double {
            let off = seconds - origin
            return origin + off - (off * 10).rounded() / 10
        }

        @Test(
            "the first anchors after play, seek and resume agree with the recording by 2 ms", arguments: [48000, 44100])
        func anchors(_ fileRate: Int) async throws {
            LoopThread.start()
            let server = await SoundServer.pipeWire(sink: "sink")
            var found: [Anchor]?
            for _ in 0..<3 where found == nil {
                found = await fileRate == Self.rate ? Self.play(server) : Self.playResampled(server)
                // An anchor whose server or daemon waited longer for a processor says nothing.
                if let anchors = found, anchors.count(where: { $0.waited <= Self.limit }) < anchors.count / 2 {
                    print("PipeWire waited for a processor: \(anchors)")
                    found = nil
                }
            }
            server.stop()
            guard let found else {
                return withKnownIssue("NOT TESTED: anchors on PipeWire; it loses sound or waits on this busy machine") {
                    Issue.record()
                }
            }
            // A report that waits makes its anchor late by as much: one line passes all anchors within the limit.
            let first = found.map { $0.offset + Self.limit + $0.waited }.min() ?? 0
            let last = found.map { $0.offset - Self.limit - $0.waited }.max() ?? 0
            if environmentHas("NOWPLAYING_FIGURES") { print("first anchors at \(fileRate) Hz, ms: \(found)") }
            #expect(last <= first, "\(found)")
        }
    }
}
