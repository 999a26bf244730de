import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Music plays while the library measures the loudness of other files.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: RealDaemon.hasDecodeProgram)) struct MeasuringBesideTests {
        /// More than any machine measures during the test.
        private static let songs = 1000

        init() { LoopThread.start() }

        /// Writes songs that take the processor for a while, and starts a library that measures them.
        private static func measure(beside daemon: RealDaemon) async -> RealLibrary {
            let folder = TemporaryFolder()
            let sound = AudioMaterial.waves(frames: 44_100 * 30)
            folder.folder("music")
            let first = folder.write(sound.wave(), "music/0.wav")
            for number in 1..<songs {
                #expect(link(first, folder.path("music/\(number).wav")) == 0)
            }
            let settings = """
                [daemon]
                socket = \(daemon.socket)
                state-directory = \(folder.folder("daemon"))
                [library]
                folders = \(folder.path("music"))
                measure-loudness = yes

                """
            return await RealLibrary.start(in: folder, settings)
        }

        /// Tracks that were measured, and true while the work goes on.
        private static func progress(_ library: RealLibrary) throws -> (done: Int64, isAtWork: Bool) {
            let found = try library.connect().result("library.status")["loudness"]
            return (found?["done"]?.integerValue ?? 0, found?["state"] == "measuring")
        }

        @Test("no sample is lost, and the daemon wakes as before") func beside() async throws {
            let place = await RecordedSink.start(TestSink("measuring"))
            let music = place.daemon.folder.codeWave("music.wav", from: 0, count: 44_100 * 120)
            let client = place.daemon.connect()
            client.call("nowPlaying.subscribe")
            #expect(client.call("play", ["uri": .string(music)])?.playing == "playing")
            await place.recorder.waitFor(more: 0.5)
            #expect(place.daemon.process.sleepsForASecond)
            let seconds = repetitions(10, nightly: 60)
            // Voluntary switches of the daemon while the test listens to it.
            func listen() -> Int {
                let before = place.daemon.process.contextSwitches
                usleep(UInt32(seconds) * 1_000_000)
                return place.daemon.process.contextSwitches - before
            }
            let alone = listen()
            let library = await Self.measure(beside: place.daemon)
            #expect(becomes { (try? Self.progress(library).done > 0) ?? false })
            // The library has connected, and asks for no more until the play ends.
            #expect(place.daemon.process.sleepsForASecond)
            let beside = listen()
            let (done, isAtWork) = try Self.progress(library)
            #expect(isAtWork && done > 0, "the measuring did not last: \(done)")
            // The bound of a daemon that plays, see WakeupTests.
            #expect(max(alone, beside) <= 2 * seconds + 4, "\(beside) beside the measuring, \(alone) alone")
            print("voluntary switches in \(seconds) s: \(alone) alone, \(beside) beside the measuring of \(done) files")
            let runs = await place.runs()
            #expect(runs.count == 1 && runs.first?.frame == 0, "\(runs)")
            #expect(library.stop() == 0)
        }
    }
}
