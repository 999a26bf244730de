import ControlProtocol
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// Loudness by tags, in our own samples.
    @Suite(.timeLimit(.minutes(5))) struct LoudnessTests {
        /// Writes frames of the position code as a FLAC file with these comments.
        static func file(
            _ folder: TemporaryFolder, _ name: String, from start: Int, count: Int, _ comments: [String]
        ) -> JSONValue {
            var options = FLACOptions()
            options.blocks = [AudioMaterial.vorbisComments(comments.map { Array($0.utf8) })]
            let material = AudioMaterial(
                sampleRate: 44100, channels: 2, bits: 16,
                samples: PositionCode.int16(from: start, count: count).map { Int32($0) })
            return .string(folder.write(material.flac(options), name))
        }

        /// Plays the files into a file and returns its samples.
        private static func render(
            _ arguments: [String], _ make: (TemporaryFolder) -> [JSONValue], _ before: (Client) -> Void = { _ in }
        ) async -> [Int16] {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(
                nil, output: "file:" + folder.path("out.wav"), in: folder, readsTitles: false, arguments)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            before(client)
            client.call("queue.add", ["items": .array(make(folder)), "play": true])
            #expect(client.events(until: "stop ended").last == "stop ended")
            daemon.stop()
            return writtenSamples(folder.path("out.wav"))
        }

        /// The factor of a stretch of a file, from the played to the written samples, and the maximum deviation of single
        /// samples from it.
        static func factor(_ written: ArraySlice<Int16>, _ played: [Int16]) -> (mean: Double, worst: Double) {
            var (product, square) = (0.0, 0.0)
            for (a, b) in zip(written, played) {
                product += Double(a) * Double(b)
                square += Double(b) * Double(b)
            }
            let mean = product / square
            return (mean, zip(written, played).map { abs(Double($0) - mean * Double($1)) }.max() ?? .infinity)
        }

        @Test("each item has its own gain from its first frame to its last") func gains() async {
            let count = 9_973
            let tags = [
                ["REPLAYGAIN_TRACK_GAIN=-6.02 dB"], [], ["REPLAYGAIN_TRACK_GAIN=+12 dB", "REPLAYGAIN_TRACK_PEAK=0.5"],
                ["R128_TRACK_GAIN=-2816"],
            ]
            let written = await Self.render([]) { folder in
                tags.indices.map { Self.file(folder, "\($0).flac", from: $0 * count, count: count, tags[$0]) }
            } _: { client in
                let status = client.call("loudness.set", ["mode": "track"])
                #expect(status?["mode"] == "track")
            }
            #expect(written.count == tags.count * count * 2)
            // −6.02 dB; no tags; 12 dB kept down by the peak; −11 dB + 5 dB.
            for (place, expected) in [0.5, 1, 2, 0.501187].enumerated() where written.count == tags.count * count * 2 {
                let played = PositionCode.int16(from: place * count, count: count)
                let part = written[(place * count * 2)..<((place + 1) * count * 2)]
                if expected == 1 {
                    #expect(Array(part) == played)
                } else {
                    let found = Self.factor(part, played)
                    #expect(abs(found.mean - expected) < 0.0002, "item \(place)")
                    // Half a step of rounding and less than one of dither.
                    #expect(found.worst < 1.6, "item \(place)")
                }
            }
        }

        @Test("each link of a chained Ogg file has its own") func links() async throws {
            let count = 9_973
            let tags = ["REPLAYGAIN_TRACK_GAIN=-6.02 dB", "TITLE=x", "REPLAYGAIN_TRACK_GAIN=+6.02 dB"]
            let written = await Self.render([]) { folder in
                var bytes: [UInt8] = []
                for (place, tag) in tags.enumerated() {
                    let flac = folder.path("\(place).flac")
                    _ = Self.file(folder, "\(place).flac", from: place * count, count: count, [])
                    let words = ["--silent", "--force", "--ogg", "--serial-number=\(place)", "-T", tag, "-o"]
                    #expect(AudioMaterial.run("flac", words + [folder.path("a.oga"), flac]) == 0)
                    bytes += folder.read("a.oga")
                }
                return [.string(folder.write(bytes, "chain.oga"))]
            } _: { client in
                client.call("loudness.set", ["mode": "track"])
            }
            try #require(written.count == tags.count * count * 2)
            for (place, expected) in [0.5, 1, 2].enumerated() {
                let played = PositionCode.int16(from: place * count, count: count)
                let found = Self.factor(written[(place * count * 2)..<((place + 1) * count * 2)], played)
                #expect(abs(found.mean - expected) < 0.0002, "link \(place)")
                #expect(found.worst < 1.6, "link \(place)")
            }
        }

        @Test("auto takes an album for one while it plays in order") func albums() async {
            let count = 5_000
            func tags(_ album: String, _ number: Int) -> [String] {
                [
                    "ALBUM=\(album)", "TRACKNUMBER=\(number)", "REPLAYGAIN_TRACK_GAIN=-6.02 dB",
                    "REPLAYGAIN_ALBUM_GAIN=-12.04 dB",
                ]
            }
            let order = [tags("a", 1), tags("a", 2), tags("a", 4), tags("b", 5), tags("b", 6), tags("c", 7)]
            let written = await Self.render([]) { folder in
                order.indices.map { Self.file(folder, "\($0).flac", from: $0 * count, count: count, order[$0]) }
            } _: { client in
                client.call("loudness.set", ["mode": "auto"])
            }
            #expect(written.count == order.count * count * 2)
            guard written.count == order.count * count * 2 else { return }
            let found = order.indices.map { place in
                let part = written[(place * count * 2)..<((place + 1) * count * 2)]
                return Self.factor(part, PositionCode.int16(from: place * count, count: count)).mean
            }
            for (found, expected) in zip(found, [0.25, 0.25, 0.5, 0.25, 0.25, 0.5]) {
                #expect(abs(found - expected) < 0.0005)
            }
        }

        @Test("a change is heard at once, and the way back is bit for bit") func change() async throws {
            let place = await RecordedSink.start(TestSink("loudness"))
            let file = Self.file(
                place.daemon.folder, "a.flac", from: 0, count: 44100 * 30, ["REPLAYGAIN_TRACK_GAIN=-6.02 dB"])
            let client = place.follow()
            client.call("play", ["uri": file])
            await place.recorder.heard(frame: 22050)
            #expect(client.call("nowPlaying.get")?["output"]?["bitPerfect"]?["value"] == true)
            let (first, waitsBefore) = (now(), place.waits())
            client.call("loudness.set", ["mode": "track"])
            let event = client.event("mode")
            #expect(event["loudness"]?["gain"]?.doubleValue == -6.02)
            #expect(event["output"]?["bitPerfect"]?["reason"] == "loudness")
            await place.recorder.waitFor(more: 0.6)
            let second = now()
            client.call("loudness.set", ["mode": "off"])
            await place.recorder.waitFor(more: 0.8)
            place.recorder.stop()
            let waited = place.waits().seconds(since: waitsBefore)
            let samples = int16Samples(place.recorder.bytes())
            let numbers = PositionCode.decode(samples)
            // The code's signs continue through all of it: nothing is lost or doubled. The smallest samples may lose theirs.
            // Silence was put in for as long as the daemon or the server had no processor, at most.
            let start = try #require(numbers.firstIndex { $0 >= 0 })
            let end = try #require(numbers.lastIndex { $0 >= 0 })
            var silent = 0
            let frames = (start...end).map { index in
                let expected = numbers[start] + index - start - silent
                if numbers[index] >= 0, numbers[index] < expected { silent += expected - numbers[index] }
                #expect(numbers[index] <= expected, "frame \(expected) was lost")
                return numbers[index] >= 0 ? numbers[index] : expected
            }
            #expect(Double(silent) / 44100 <= waited)
            let played = PositionCode.int16(from: numbers[start], count: end - start + 1)
            func original(_ index: Int) -> ArraySlice<Int16> {
                let frame = frames[index] - numbers[start]
                return played[(2 * frame)..<(2 * frame + 2)]
            }
            func recorded(_ index: Int) -> ArraySlice<Int16> {
                samples[(2 * (start + index))..<(2 * (start + index + 1))]
            }
            let isExact = frames.indices.map { recorded($0).elementsEqual(original($0)) }
            let changed = try #require(isExact.firstIndex(of: false))
            let back = try #require(isExact.lastIndex(of: false))
            // As quick as a seek: on this sink a few milliseconds, more by the recorder's steps, and on a busy machine by the
            // time that the daemon and the server had no processor.
            #expect(abs(place.time(start + changed) - first) < 0.1 + waited)
            #expect(abs(place.time(start + back) - second) < 0.15 + waited)
            let middle = (((changed + back) / 2)..<((changed + back) / 2 + 4000)).filter { numbers[start + $0] >= 0 }
            #expect(middle.count > 2000)
            let found = Self.factor(ArraySlice(middle.flatMap(recorded)), middle.flatMap(original))
            #expect(abs(found.mean - 0.5) < 0.001)
        }
    }
}
