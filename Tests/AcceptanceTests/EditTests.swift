import ControlProtocol
import TestSupport
import Testing

extension Acceptance {
    /// Changes after the audible sample: edits, boundaries, formats; recorded.
    @Suite(.timeLimit(.minutes(5))) struct EditTests {
        /// Seconds before a boundary up to which an edit has to be answered, to be in the server in time.
        private static let margin = 0.015

        /// Edits of the queue after item 1, which lasts `seconds`, made `before` seconds before it ends. The sound is item 1
        /// and then `wanted` from its first frame, without missing or extra samples. If the machine carried out an edit too
        /// late for the boundary, as the clock and the waits for a processor show, the test repeats it.
        private func edit(
            _ name: String, seconds: Double, before: Double, _ change: (Client, JSONValue) -> Void, wanted: Int?,
            number: Int = 1
        ) async throws {
            let place = await RecordedSink.start(TestSink("\(name)-\(number)", rewinds: true))
            let folder = place.daemon.folder
            let length = Int(seconds * 44100)
            // Codes far apart identify the audible item.
            let first = folder.codeFLAC("first.flac", from: 0, count: length)
            let others = [1, 2, 3].map { folder.codeWave("\($0).wav", from: $0 * 10_000_000, count: 22050) }
            let client = place.follow()
            client.call(
                "queue.add", ["items": [.string(first), .string(others[0]), .string(others[1])], "play": true])
            let play = client.event("play")
            let end = play.monotonic + seconds - play.elapsed
            let rest = end - before - now()
            if rest > 0 { await place.recorder.waitFor(more: rest) }
            let begin = place.waits()
            change(client, .string(others[2]))
            let answered = now()
            func again() async throws {
                try await edit(
                    name, seconds: seconds, before: before, change, wanted: wanted, number: number + 1)
            }
            if answered > end - Self.margin { return try await again() }
            if wanted != nil {
                #expect(client.event("track").words == "track ended")
            }
            // The server plays the edited blocks after the answer, when it has a processor.
            let waited = place.waits().seconds(since: begin)
            #expect(client.event("stop").words == "stop ended")
            let runs = await place.runs()
            if answered + waited > end - Self.margin, !Self.isExact(runs, wanted, after: length) {
                return try await again()
            }
            // The sink may drop the very first frames of a rewritten block from the recording, never more than 6 ms.
            let head = try #require(runs.first)
            #expect(head.frame < 300 && head.frame + head.count == length, "\(runs)")
            guard runs.count > 1, let wanted else {
                #expect(runs.count == 1 && wanted == nil, "\(runs)")
                return
            }
            #expect(runs[1].frame == wanted * 10_000_000, "\(runs)")
            #expect(runs[1].recorded == head.recorded + head.count, "\(runs)")
        }

        /// True if item 1 of `length` frames plays to its end, and then `wanted` from its first frame.
        private static func isExact(_ runs: [PositionCode.Run], _ wanted: Int?, after length: Int) -> Bool {
            guard let head = runs.first, head.frame + head.count == length else { return false }
            guard let wanted else { return runs.count == 1 }
            return runs.count > 1 && runs[1].frame == wanted * 10_000_000
                && runs[1].recorded == head.recorded + head.count
        }

        /// Edits, and the next audible item.
        static let edits: [(String, @Sendable (Client, JSONValue) -> Void, Int?)] = [
            ("insert", { $0.call("queue.add", ["items": [$1], "next": true]) }, 3),
            ("remove", { client, _ in client.call("queue.remove", ["ids": [2]]) }, 2),
            ("move", { client, _ in client.call("queue.move", ["ids": [3], "to": 1]) }, 2),
            ("removeAll", { client, _ in client.call("queue.remove", ["ids": [2, 3]]) }, nil),
        ]

        @Test(
            "an edit 60 ms before the boundary takes effect to the sample",
            arguments: environmentHas("NOWPLAYING_NIGHTLY") ? Array(edits.indices) : [0, 3])
        func late(_ index: Int) async throws {
            let (name, change, wanted) = Self.edits[index]
            try await edit("late-" + name, seconds: 3, before: 0.06, change, wanted: wanted)
        }

        @Test(
            "an edit long before the boundary takes effect to the sample",
            arguments: environmentHas("NOWPLAYING_NIGHTLY") ? Array(edits.indices) : [1, 2])
        func early(_ index: Int) async throws {
            let (name, change, wanted) = Self.edits[index]
            let isNight = environmentHas("NOWPLAYING_NIGHTLY")
            try await edit(
                "early-" + name, seconds: isNight ? 35 : 4, before: isNight ? 30 : 3, change, wanted: wanted)
        }

        @Test("a boundary and the end are published for the instant at which they are audible")
        func boundaries() async throws {
            let place = await RecordedSink.start(TestSink("boundaries"))
            let folder = place.daemon.folder
            let starts = [0, 20000, 50000, 90000, 110_000]
            let files = zip(starts, starts.dropFirst()).map {
                JSONValue.string(folder.codeWave("\($0).wav", from: $0, count: $1 - $0))
            }
            let client = place.follow()
            let begin = place.waits()
            client.call("queue.add", ["items": .array(files), "play": true])
            var events = [client.event("play")]
            for _ in 1..<files.count { events.append(client.event("track")) }
            let stop = client.event("stop")
            let runs = await place.runs()
            let run = try #require(runs.first)
            #expect(run.frame == 0)
            #expect(run.count == 110_000, "\(runs)")
            // A monitor passes on a block when it is rendered, before it is audible, and the recorder gets it a little later:
            // all is off by the same few milliseconds.
            var late = zip(events, starts).map { event, start in
                place.time(run.recorded + start) + event.elapsed - event.monotonic
            }
            late.append(place.time(run.recorded + run.count) - stop.monotonic)
            let waited = place.waits().seconds(since: begin)
            #expect(late.allSatisfy { abs($0) < 0.01 + waited }, "\(late), waited \(waited) s")
            #expect(late.max()! - late.min()! < 0.003 + waited, "\(late), waited \(waited) s")
        }

        @Test("a change of format hands over at the end of what was heard")
        func otherFormat() async throws {
            let place = await RecordedSink.start(TestSink("handover"))
            let folder = place.daemon.folder
            let files = [
                folder.codeWave("0.wav", from: 0, count: 44100),
                // Loud and constant, so that the server's output has no silent frame.
                folder.write(
                    AudioMaterial(
                        sampleRate: 48000, channels: 1, bits: 24, samples: Array(repeating: 3_000_000, count: 48000)
                    ).wave(), "1.wav"),
                folder.codeWave("2.wav", from: 5_000_000, count: 22050),
            ]
            let client = place.follow()
            let begin = place.waits()
            client.call("queue.add", ["items": .array(files.map(JSONValue.string)), "play": true])
            #expect(client.event("track", "stop").words == "track ended")
            #expect(client.event("track", "stop").words == "track ended")
            #expect(client.event("track", "stop").words == "stop ended")
            let runs = await place.runs()
            let samples = int16Samples(place.recorder.bytes())
            try #require(runs.count == 2, "\(runs)")
            #expect(runs[0].count == 44100 && runs[0].frame == 0)
            #expect(runs[1].count == 22050 && runs[1].frame == 5_000_000)
            // Between them a second of the middle one, and silence of less than 10 ms on either side, but for the time in which
            // no thread had a processor.
            let waited = Int(place.waits().seconds(since: begin) * 44100)
            let middle = samples[2 * (runs[0].recorded + 44100)..<2 * runs[1].recorded]
            let leading = middle.prefix { abs($0) < 100 }.count / 2
            let trailing = middle.reversed().prefix { abs($0) < 100 }.count / 2
            let words = "silence of \(leading) and \(trailing) frames, \(waited) by the machine"
            #expect(leading < 441 + waited && trailing < 441 + waited, "\(words)")
            if environmentHas("NOWPLAYING_FIGURES") { print("hand-over: silence of \(leading) and \(trailing) frames") }
            let total = middle.count / 2 - leading - trailing
            #expect(abs(total - 44100) < 300, "\(total)")
        }
    }
}
