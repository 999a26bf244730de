import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Two real snapclients of a real Snapcast server, each on a null sink that is recorded.
    @Suite(.timeLimit(.minutes(5))) struct SnapcastClientsTests {
        /// Seconds after which a client has found the server's time.
        private static let settling = 8.0
        private static let compared = 10.0
        /// Seconds by which two rooms may differ.
        private static let limit = 0.005

        /// Seconds by which a room plays frames later than the daemon's position, and than their times from the server, ten
        /// times a second. The delay of the recording is in both.
        private struct Lateness {
            var toPosition: [Double] = []
            var toStamps: [Double] = []
        }

        private func middle(_ numbers: [Double]) -> Double {
            numbers.isEmpty ? .nan : numbers.sorted()[numbers.count / 2]
        }

        /// Compares a recording with the position and with the times of chunks, from an instant on.
        private func compare(
            _ recorder: Recorder, from start: Double, _ state: JSONValue, since steady: Double, _ heard: [HeardChunk]
        ) async -> Lateness {
            var result = Lateness()
            let chunks = heard.filter { $0.frame != nil }
            for run in await recorder.runs() {
                for index in stride(from: 0, to: run.count, by: 4800) {
                    let time = Double(recorder.time(ofFrame: run.recorded + index).nanoseconds) / 1e9
                    guard time >= start else { continue }
                    let frame = run.frame + index
                    guard let chunk = chunks.last(where: { $0.frame.map { $0 <= frame } ?? false }),
                        let first = chunk.frame
                    else { continue }
                    result.toStamps.append(time - chunk.time - Double(frame - first) / SnapcastHouse.rate)
                    if time >= max(steady, state.monotonic) {
                        result.toPosition.append(state.position(at: time) - Double(frame) / SnapcastHouse.rate)
                    }
                }
            }
            return result
        }

        /// The client of a room on a sink of its own.
        private func client(_ sink: TestSink, _ sound: SoundServer, _ folder: TemporaryFolder) async -> TestProcess {
            let words = [
                "snapclient", "--host", Snapserver.host, "--hostID", sink.name, "--soundcard", sink.name, "--player",
                "pulse:server=\(sound.address)", "--mixer", "none", "--logsink",
                "file:" + folder.path(sink.name + ".log"),
            ]
            return await LoopThread.run { TestProcess(Precedence.words + words, environment: currentEnvironment()) }
        }

        @Test("two rooms play the same frames within 5 ms, as near to the position as to the server's times")
        func rooms() async throws {
            let sinks = ["kitchen", "bath"].map { TestSink($0, rate: 48000) }
            let sound = await SoundServer.pulseAudio(sinks)
            let house = await SnapcastHouse.start()
            let folder = house.daemon.folder
            let listener = SnapcastListener()
            house.client.call("play", ["uri": house.code("a.wav", seconds: 120)])
            _ = house.client.event("play")
            var clients: [TestProcess] = []
            for sink in sinks { clients.append(await client(sink, sound, folder)) }
            var recorders: [Recorder] = []
            for sink in sinks { recorders.append(await Recorder.start(sound, sink)) }
            await recorders[0].waitFor(more: Self.settling)
            let before = sound.waits(and: clients.map(\.pid))
            await recorders[0].waitFor(more: Self.compared)
            let state = try #require(house.client.call("nowPlaying.get"))
            let end = Double(MonotonicTime.now.nanoseconds) / 1e9
            for recorder in recorders { recorder.stop() }
            let waited = sound.waits(and: clients.map(\.pid)).seconds(since: before)
            let heard = listener.heard
            // The daemon learns of other times of the server within a second.
            let steady = (listener.changes.last ?? 0) + 1
            var rooms: [Lateness] = []
            for recorder in recorders {
                rooms.append(await compare(recorder, from: end - Self.compared, state, since: steady, heard))
            }
            for (sink, room) in zip(sinks, rooms) {
                let log = String(decoding: folder.read(sink.name + ".log").suffix(2000), as: UTF8.self)
                guard !room.toStamps.isEmpty || waited < 1 else {
                    print("NOT TESTED: snapclients on this busy machine")
                    continue
                }
                #expect(!room.toStamps.isEmpty, "\(sink.name): silent\n\(log)")
                guard room.toPosition.count > 20 else {
                    print("NOT TESTED: the position beside snapclients, as snapserver changed its times")
                    continue
                }
                let (position, stamps) = (middle(room.toPosition), middle(room.toStamps.suffix(room.toPosition.count)))
                print("\(sink.name): \(position) s after the position, \(stamps) s after the server's times")
                #expect(abs(position - stamps) <= PositionErrors.limit, "\(sink.name)")
            }
            let apart = middle(rooms[0].toStamps) - middle(rooms[1].toStamps)
            print("the rooms are \(apart) s apart; the clients waited \(waited) s for a processor")
            #expect(!(abs(apart) > Self.limit + waited), "\(apart) s, waited \(waited) s")
            for client in clients { client.end() }
            #expect(house.daemon.stop() == 0)
            listener.end()
        }
    }
}
