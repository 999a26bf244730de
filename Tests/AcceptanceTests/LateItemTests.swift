import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// An item that is not there when it should begin.
    @Suite(.timeLimit(.minutes(5))) struct LateItemTests {
        @Test(
            "appended in the last moments of the last item: the silence is published at its end, then the item plays whole",
            .enabled(if: RealDaemon.hasDecodeProgram),
            arguments: environmentHas("NOWPLAYING_NIGHTLY") ? [44100, 48000] : [44100])
        func appended(rate: Int) async throws {
            let place = await RecordedSink.start(TestSink("late\(rate)"))
            let (client, folder) = (place.follow(), place.daemon.folder)
            let late = AudioMaterial(
                sampleRate: rate, channels: 2, bits: 16,
                samples: PositionCode.int16(from: 5_000_000, count: rate).map { Int32($0) }
            ).wave()
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            let (gate, key) = (ends[0], ends[1])
            defer { close(gate) }
            let server = HTTPServer { request, connection in
                var byte: UInt8 = 0
                _ = read(gate, &byte, 1)
                connection.file(late, type: "audio/wav", request)
            }
            let first = JSONValue.string(folder.codeWave("first.wav", from: 0, count: 44100 * 3))
            var stall = JSONValue.null
            // An item that is added when the first one has ended comes too late, as the clock shows, and is no case of this.
            while stall == .null, !client.isBroken {
                client.call("play", ["uri": first])
                #expect(client.event("play").rate == 1)
                await place.recorder.heard(frame: Int(2.75 * 44100))
                client.call("queue.add", ["items": [.string(server.url("/late.wav"))]])
                let added = now()
                let state = client.event("stall", "stop")
                if state.playing == "stalled" {
                    stall = state
                } else {
                    #expect(state.monotonic < added, "it ended \(state.monotonic - added) s after the next was added")
                }
            }
            #expect(stall["stall"]?["reason"] == "sourceLate" && stall["queue"]?["index"] == 0)
            #expect(abs(stall.elapsed - 3) < 0.005 && stall.rate == 0, "\(stall.elapsed)")
            close(key)
            let track = client.event("track")
            #expect(track.words == "track ended" && track.elapsed < 0.01 && track.rate == 1)
            #expect(client.event("stop").words == "stop ended")
            guard rate == 44100 else { return #expect(place.daemon.stop() == 0) }
            let runs = await place.runs()
            #expect(runs.suffix(2).map(\.frame) == [0, 5_000_000], "\(runs)")
            #expect(runs.suffix(2).map(\.count) == [44100 * 3, rate], "\(runs)")
            #expect(place.daemon.stop() == 0)
        }
    }
}
