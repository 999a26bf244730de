import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// The real daemon plays to a real Snapcast server. A client of that server gets each frame with the time of its being
    /// heard, which is compared with the daemon's clock.
    @Suite(.timeLimit(.minutes(12))) struct SnapcastTests {
        private static let buffer = SnapcastHouse.buffer
        private static let rate = SnapcastHouse.rate

        /// Seconds by which the daemon's position is ahead of the frames that a room hears, chunk by chunk, from both
        /// anchors' instants on. The anchor may have followed the server's times since the event. Nil: the server read late
        /// after that, and gave the chunks other times by itself.
        private func errors(_ listener: SnapcastListener, _ state: JSONValue, since event: JSONValue) -> [Double]? {
            let chunks = listener.chunks
            let changes = zip(chunks, chunks.dropFirst()).filter { first, second in
                abs(second.stamp.seconds(since: first.stamp) - 0.02) > 0.0001
            }
            // The beginning of a connection is such a change, too.
            if let last = changes.last?.1, seconds(last.stamp) + Self.buffer > event.monotonic + 0.06 {
                print("NOT TESTED: the position while this machine is busy, as snapserver changed its times")
                return nil
            }
            return chunks.compactMap { chunk in
                let heard = seconds(chunk.stamp) + Self.buffer
                guard chunk.samples.count > 40, heard >= max(state.monotonic, event.monotonic) else { return nil }
                let frame = PositionCode.decode(Array(chunk.samples.prefix(40)))[0]
                return frame < 0 ? nil : state.position(at: heard) - Double(frame) / Self.rate
            }
        }

        private func seconds(_ time: MonotonicTime) -> Double { Double(time.nanoseconds) / 1e9 }

        /// Compares the position with the frames in a room; returns the errors in seconds.
        private func compare(
            _ listener: SnapcastListener, _ client: Client, since event: JSONValue, _ words: String, least: Int = 10
        ) throws -> [Double] {
            guard let found = errors(listener, try #require(client.call("nowPlaying.get")), since: event) else {
                return []
            }
            #expect(found.count > least && p95(found) <= 0.001, "\(words): \(found.count), \(p95(found)) s")
            return found
        }

        /// The 95th of 100 errors, by size.
        private func p95(_ errors: [Double]) -> Double {
            let sizes = errors.map(abs).sorted()
            return sizes.isEmpty ? .infinity : sizes[min(sizes.count - 1, sizes.count * 95 / 100)]
        }

        @Test("the position is that of the frames in the rooms, also after pause, resume and seek") func position()
            async throws
        {
            let house = await SnapcastHouse.start()
            let listener = SnapcastListener()
            house.client.call("play", ["uri": house.code("a.wav", seconds: 300)])
            let first = house.client.event("play")
            usleep(3_000_000)
            let present = try #require(house.client.call("nowPlaying.get"))
            let steady = try compare(listener, house.client, since: first, "steady", least: 40)
            #expect(abs(present.skew) < 1e-6, "the schedule is the clock of the state")
            print("steady: p95 \(p95(steady)) s, largest \(steady.map(abs).max() ?? .nan) s of \(steady.count) chunks")
            var all: [Double] = []
            for round in 0..<repetitions(5, nightly: 50) {
                usleep(UInt32.random(in: 300_000...900_000))
                house.client.call("pause")
                let paused = house.client.event("pause")
                usleep(UInt32.random(in: 20_000...1_500_000))
                house.client.call("play")
                let resumed = house.client.event("play")
                #expect(resumed.goesOn(from: paused.elapsed, after: 0))
                usleep(1_600_000)
                all += try compare(listener, house.client, since: resumed, "\(round) resumed")
                house.client.call("changePlaybackPosition", ["position": .number(Double(20 + 10 * (round % 20)))])
                let seeked = house.client.event("seek")
                usleep(1_600_000)
                all += try compare(listener, house.client, since: seeked, "\(round) seeked")
            }
            print("after pauses and seeks: p95 \(p95(all)) s, largest \(all.map(abs).max() ?? .nan) s of \(all.count)")
            #expect(house.daemon.stop() == 0)
            listener.end()
        }

        @Test("items follow each other without a sample more or less, bit for bit") func items() async throws {
            let house = await SnapcastHouse.start()
            let listener = SnapcastListener()
            let places = [0.0, 1, 1.5, 1.75, 3]
            let files = zip(places, places.dropFirst()).map { start, end in
                house.code("\(start).wav", from: start, seconds: end - start)
            }
            house.client.call("queue.add", ["items": .array(files), "play": true])
            let output = house.client.event("track")["output"]
            #expect(output?["name"] == "snapcast" && output?["bitPerfect"]?["value"] == true, "\(output ?? .null)")
            #expect(house.client.event("stop").words == "stop ended")
            usleep(300_000)
            let samples = listener.chunks.flatMap(\.samples)
            let first = try #require(samples.firstIndex { $0 != 0 })
            let last = try #require(samples.lastIndex { $0 != 0 })
            #expect(Array(samples[first...last]) == PositionCode.int16(from: 0, count: 3 * 48000))
            #expect(house.daemon.stop() == 0)
            listener.end()
        }

        @Test("a server that dies stalls the playback, which goes on with the first frame that was not heard")
        func serverDies() async throws {
            let house = await SnapcastHouse.start()
            house.client.call("play", ["uri": house.code("a.wav", seconds: 300)])
            _ = house.client.event("play")
            var server = house.server
            var all: [Double] = []
            for round in 0..<repetitions(3, nightly: 50) {
                usleep(2_500_000)
                let before = try #require(house.client.call("nowPlaying.get"))
                let died = Double(MonotonicTime.now.nanoseconds) / 1e9
                server.end()
                let stalled = house.client.event("stall")
                let known = Double(MonotonicTime.now.nanoseconds) / 1e9
                #expect(stalled["stall"]?["reason"] == "noServer", "\(stalled)")
                // The position that the rooms had when the server died, or a moment after.
                #expect(stalled.elapsed >= before.position(at: died) - 0.001, "round \(round)")
                #expect(stalled.elapsed <= before.position(at: known), "round \(round)")
                server = await Snapserver.start(in: house.daemon.folder)
                let listener = SnapcastListener()
                let again = house.client.event("unstall")
                #expect(again.goesOn(from: stalled.elapsed, after: 0))
                usleep(1_600_000)
                all += try compare(listener, house.client, since: again, "round \(round)")
                listener.end()
            }
            print("after reconnects: p95 \(p95(all)) s, largest \(all.map(abs).max() ?? .nan) s of \(all.count)")
            #expect(house.daemon.stop() == 0)
            server.end()
        }

        @Test("a server that hangs stalls the playback until it reads again") func serverHangs() async throws {
            let house = await SnapcastHouse.start()
            house.client.call("play", ["uri": house.code("a.wav", seconds: 300)])
            _ = house.client.event("play")
            usleep(2_000_000)
            house.server.process.signal(SIGSTOP)
            let stalled = house.client.event("stall")
            #expect(stalled["stall"]?["reason"] == "serverHung", "\(stalled)")
            usleep(1_000_000)
            house.server.process.signal(SIGCONT)
            let again = house.client.event("unstall")
            #expect(again.goesOn(from: stalled.elapsed, after: 0))
            let listener = SnapcastListener()
            usleep(1_600_000)
            _ = try compare(listener, house.client, since: again, "after the hang")
            #expect(house.daemon.stop() == 0)
            listener.end()
        }

        @Test("without a server play waits for one, and the server's list of clients does not keep us")
        func lateServer()
            async throws
        {
            let folder = TemporaryFolder()
            let gone = await Snapserver.start(in: folder)
            gone.end()
            let house = await SnapcastHouse.start(folder, gone)
            house.client.call("play", ["uri": house.code("a.wav", seconds: 60)])
            #expect(house.client.event("stall")["stall"]?["reason"] == "noServer")
            let server = await Snapserver.start(in: folder, buffer: 600)
            #expect(house.client.event("unstall").playing == "playing")
            // The buffer that the server has, less a chunk, and the lead.
            let latency = try #require(house.client.call("nowPlaying.get")?["output"]?["latency"]?.doubleValue)
            #expect(latency > 0.57 && latency < 0.8, "\(latency) s")
            #expect(becomes { (try? server.call("Server.GetStatus").contains("nowplayingd-")) == false })
            #expect(house.daemon.stop() == 0)
            server.end()
        }

        @Test("a server whose source has another format gets nothing, until it comes back with ours")
        func otherFormat() async throws {
            let folder = TemporaryFolder()
            let other = await Snapserver.start(in: folder, format: "44100:16:2")
            let house = await SnapcastHouse.start(folder, other)
            let listener = SnapcastListener()
            house.client.call("play", ["uri": house.code("a.wav", seconds: 60)])
            #expect(house.client.event("stall")["stall"]?["reason"] == "noServer")
            usleep(500_000)
            #expect(listener.chunks.isEmpty)
            listener.end()
            other.end()
            let server = await Snapserver.start(in: folder)
            let room = SnapcastListener()
            let again = house.client.event("unstall")
            #expect(again.playing == "playing" && again.elapsed < 0.001, "\(again)")
            usleep(1_600_000)
            _ = try compare(room, house.client, since: again, "after another format")
            #expect(house.daemon.stop() == 0)
            room.end()
            server.end()
        }

        @Test("a paused daemon sleeps, and a playing one wakes rarely") func wakeups() async {
            let house = await SnapcastHouse.start()
            let file = house.daemon.folder.silence("a.wav", seconds: 600, rate: 48000, channels: 2)
            house.client.call("play", ["uri": .string(file)])
            _ = house.client.event("play")
            usleep(1_500_000)
            let begun = ContinuousClock.now
            let before = house.daemon.contextSwitches
            usleep(10_000_000)
            let playing = house.daemon.contextSwitches - before
            // 5.6 steps of the mixer in a second, which ask for frames on the way, two refills by the decode thread, and a question
            // for the server's times. A step may begin on either edge.
            let most = Int(6 * ((ContinuousClock.now - begun) / .seconds(1))) + 2
            #expect(playing <= most, "\(playing) in 10 s")
            print("voluntary switches in 10 s: \(playing)")
            house.client.call("pause")
            #expect(standsStill(seconds: 5) { house.daemon.contextSwitches })
            #expect(house.daemon.stop() == 0)
        }
    }
}
