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

        /// The first anchors beside the recording; nil: the graph lost sound, or the recorder did.
        private static func play(_ server: SoundServer) async throws -> [Anchor]? {
            let daemon = await RealDaemon.start(server)
            let recorder = await Recorder.start(server, TestSink("sink", rate: rate))
            let file = daemon.folder.codeWave("a.wav", from: 0, count: rate * 120, rate: rate)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            var states: [(state: JSONValue, waited: Double)] = []
            // A report that waits is an error of the line that begins with it, until a higher reading comes.
            var waited = 0.0
            func note(_ event: String, begins: Bool, _ method: String, _ parameters: JSONValue = [:]) {
                let begin = server.waits(and: [daemon.process.pid])
                client.call(method, parameters)
                let state = client.event(event)
                let waits = server.waits(and: [daemon.process.pid]).seconds(since: begin)
                waited = begins ? waits : waited + waits
                states.append((state, waited))
            }
            note("play", begins: true, "queue.add", ["items": [.string(file)], "play": true])
            for number in 0..<seeks {
                await recorder.waitFor(more: 0.2 + Double(number % 4) * 0.31)
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
            let runs = PositionCode.joined(await recorder.runs())
            guard runs.count == states.count, abs(recorder.loss) < 0.001 else {
                print("PipeWire lost sound: \(runs.count) stretches of \(states.count), \(recorder.loss) s")
                return nil
            }
            let monitor = recorder.time(ofFrame: 0).seconds(since: MonotonicTime(nanoseconds: 0))
            return zip(states, runs).map { event, run in
                let heard = Double(run.recorded - run.frame) / Double(rate) + event.state.elapsed
                return Anchor(offset: event.state.monotonic - heard - monitor, waited: event.waited)
            }
        }

        @Test("the first anchors after play, seek and resume agree with the recording by 2 ms")
        func anchors() async throws {
            LoopThread.start()
            let server = await SoundServer.pipeWire(sink: "sink")
            var found: [Anchor]?
            for _ in 0..<3 where found == nil {
                found = try await Self.play(server)
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
            if environmentHas("NOWPLAYING_FIGURES") { print("first anchors, ms: \(found)") }
            #expect(last <= first, "\(found)")
        }
    }
}
