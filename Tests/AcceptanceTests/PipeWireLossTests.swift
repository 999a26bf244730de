import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// PipeWire that loses blocks of sound.
    @Suite(.timeLimit(.minutes(5))) struct PipeWireLossTests {
        private static let seconds = 12

        @Test(
            "a daemon whose sound server loses a block each second wakes at most twice a second more",
            arguments: [48000, 44100])
        func wakeups(_ rate: Int) async throws {
            LoopThread.start()
            let server = await SoundServer.pipeWire(sink: "sink")
            let daemon = await RealDaemon.start(server, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(daemon.folder.silence("a.wav", seconds: 600, rate: rate, channels: 2))])
            #expect(client.event("play").playing == "playing")
            #expect(daemon.process.sleepsForASecond)
            /// Wakeups of the loop in some seconds, in each of which the server stands still for so long.
            func count(standing: Double) -> Int {
                let before = ProcessFigures(daemon.process.pid, withMemory: false).wakeups
                for _ in 0..<Self.seconds {
                    if standing > 0 {
                        server.process.signal(SIGSTOP)
                        usleep(UInt32(standing * 1e6))
                        server.process.signal(SIGCONT)
                    }
                    usleep(UInt32((1 - standing) * 1e6))
                }
                return ProcessFigures(daemon.process.pid, withMemory: false).wakeups - before
            }
            let even = count(standing: 0)
            // The graph plays two or three steps without the stream.
            let uneven = count(standing: 0.11)
            let report = client.call("diagnostics.get")?["clock"]
            let jumps = report?["jumps"]?.integerValue ?? 0
            #expect(jumps >= 3 && report?["unsteady"] == true, "\(String(describing: report))")
            // One refill more, and its wakeups, may be in these seconds.
            #expect(uneven - even <= 2 * Self.seconds + 4, "\(even) and \(uneven) in \(Self.seconds) s")
            print("wakeups in \(Self.seconds) s at \(rate) Hz: \(even), with losses \(uneven), jumps \(jumps)")
            #expect(client.takeNotifications().count { $0.words == "drift" } <= 4)
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}
