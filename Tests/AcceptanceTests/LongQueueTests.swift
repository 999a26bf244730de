import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// A queue of 100,000 items, and the cost of a change.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: Campaign.isLong, "part of make faults"))
    struct LongQueueTests {
        /// Bytes of the saved queue.
        private func size(_ daemon: RealDaemon) -> Int {
            var status = stat()
            return stat(daemon.folder.path("state/queue"), &status) == 0 ? Int(status.st_size) : -1
        }

        @Test("a change of a long queue costs milliseconds, at the answer and at the disk")
        func changes() async throws {
            LoopThread.start()
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            let song = daemon.silences(600).arrayValue![0]
            for _ in 0..<100 { client.call("queue.add", ["items": .array(Array(repeating: song, count: 1000))]) }
            client.call("play", ["index": 50_000])
            #expect(becomes { client.call("diagnostics.get")?["state"]?["error"] == nil })
            // It is on the disk when nothing of the daemon moves any more between two refills.
            #expect(daemon.process.sleepsForASecond)
            var (answers, others): ([Double], [Double]) = ([], [])
            let other = daemon.connect()
            let before = size(daemon)
            let rounds = 100
            for round in 0..<rounds {
                let place = Int64(round * 991 % 100_000)
                let change: (String, JSONValue) =
                    switch round % 4 {
                    case 0: ("queue.add", ["items": [song], "at": .integer(place)])
                    case 1: ("queue.move", ["ids": [.integer(place + 1)], "to": .integer(99_999 - place)])
                    case 2: ("queue.remove", ["ids": [.integer(place + 1)]])
                    default: ("nextTrack", [:])
                    }
                let asked = now()
                #expect(client.call(change.0, change.1) != nil)
                answers.append(now() - asked)
                // While it is saved, everybody is answered.
                let again = now()
                other.call("nowPlaying.get")
                others.append(now() - again)
                usleep(round % 10 == 9 ? 400_000 : 5_000)
            }
            #expect(daemon.process.sleepsForASecond)
            let written = (size(daemon) - before) / rounds
            answers.sort()
            others.sort()
            Campaign.report(
                "a change of a queue of 100,000 entries (debug build)", rounds,
                "answered after \(Campaign.range(answers.map { $0 * 1000 })) ms, the median "
                    + "\(Campaign.text(answers[rounds / 2] * 1000)) ms; a question meanwhile after "
                    + "\(Campaign.range(others.map { $0 * 1000 })) ms; \(written) bytes of the disk for each")
            #expect(written > 0 && written < 200)
            #expect(daemon.stop() == 0)
        }
    }
}
