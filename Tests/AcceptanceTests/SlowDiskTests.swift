import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Disks that are hardly faster than the music, or pause for some seconds: no frame is lost. The device takes 2 s ahead.
    @Suite(
        .timeLimit(.minutes(5)),
        .enabled(if: FailingDisk.isAllowed, "needs root, FUSE and python3-fusepy, to mount a disk of its own"))
    struct SlowDiskTests {
        /// Bytes a second of a WAV file of 16 bit stereo at 44.1 kHz.
        private static let music = 176_400.0

        /// A recorded daemon that plays a file of numbered frames from a disk.
        private struct House {
            let server: SoundServer
            let daemon: RealDaemon
            let recorder: Recorder
            let disk: FailingDisk
            let client: Client
            let module: String

            static func start(_ sink: TestSink) async -> House {
                LoopThread.start()
                let server = await SharedServer.pulseAudio.value
                let module = server.load(sink)
                let daemon = await RealDaemon.start(server, sink: sink.name, readsTitles: false)
                let disk = await FailingDisk.mount(in: daemon.folder) { content in
                    _ = content.folder.codeWave(content.name + "/a.wav", from: 0, count: 44100 * 60)
                }
                let recorder = await Recorder.start(server, sink, latency: 2500)
                let client = daemon.connect()
                client.call("nowPlaying.subscribe")
                client.call("play", ["uri": .string(disk.path + "/a.wav")])
                return House(
                    server: server, daemon: daemon, recorder: recorder, disk: disk, client: client, module: module)
            }

            /// Returns when this second of the file is audible, by the daemon's clock.
            func reaches(_ second: Double) -> Bool {
                becomes {
                    guard let state = client.call("nowPlaying.get") else { return false }
                    return state.elapsed + (now() - state.monotonic) * state.rate >= second
                }
            }

            /// The recorded stretches of the file that began before this second, after the end of the daemon.
            func end(at second: Double) async -> [PositionCode.Run] {
                await recorder.heard(frame: Int(second * 44100))
                #expect(daemon.stop() == 0)
                recorder.stop()
                let runs = heard(recorder).filter { $0.frame < Int(second * 44100) }
                server.control("unload-module", module)
                disk.end()
                return runs
            }
        }

        /// True if each stretch begins at the end of the one before, or repeats frames. The monitor of a sink that rewinds has the
        /// silence that was rendered before the first frames, in their place.
        private func losesNothing(_ runs: [PositionCode.Run]) -> Bool {
            runs.first.map { $0.frame < 2 * 44100 } == true
                && zip(runs, runs.dropFirst()).allSatisfy { $1.frame <= $0.frame + $0.count }
        }

        @Test("a disk that is hardly faster than the music loses no frame", arguments: [1.1, 1.3])
        func slow(speed: Double) async {
            let house = await House.start(TestSink("slow\(Int(speed * 10))", rewinds: true))
            #expect(house.reaches(3))
            house.disk.pace(speed * Self.music)
            let runs = await house.end(at: 20)
            #expect(losesNothing(runs), "\(runs)")
        }

        @Test("a disk that answers again while only the device has sound loses no frame")
        func pause() async {
            let house = await House.start(TestSink("late", rewinds: true))
            #expect(house.reaches(3))
            house.disk.pace(1)
            // The device has taken all of the server's queue, and plays it.
            #expect(house.reaches(9))
            house.disk.recover()
            let runs = await house.end(at: 14)
            #expect(losesNothing(runs), "\(runs)")
        }
    }
}
