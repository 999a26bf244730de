import ControlProtocol
import TestSupport
import Testing

extension Acceptance {
    /// Every sample of every kind of file reaches the sink as it is in the file.
    @Suite(.timeLimit(.minutes(5))) struct BitExactTests {
        /// One kind of file.
        struct Kind: Sendable, CustomTestStringConvertible {
            var name: String
            var rate = 44100
            var channels = 2
            var bits = 16
            var layout = AudioMaterial.Layout.integer
            var make: @Sendable (AudioMaterial, AudioMaterial.Layout) -> [UInt8]
            /// Format of a sink that has more bits or another layout than the stream; nil: that of the stream.
            var sink: String?

            var testDescription: String { "\(name) \(layout) \(bits) bit, \(channels) × \(rate) Hz, \(format)" }

            /// Format of the sink. Streams have 8 and 16 bit as 16, up to 24 as 24 in 3 bytes, more as 32, float as float.
            var format: String {
                sink ?? (layout != .integer ? "float32le" : bits <= 16 ? "s16le" : bits <= 24 ? "s24le" : "s32le")
            }

            func expected(_ material: AudioMaterial) -> [UInt8] {
                var builder = ByteBuilder()
                switch format {
                case "s16le": for sample in material.int16 { builder.little(sample, 2) }
                case "s24le": return material.int24
                case "s24-32le": for sample in material.samples { builder.little(sample & 0xff_ffff, 4) }
                case "s32le": for sample in material.int32 { builder.little(sample, 4) }
                default: for sample in material.float32 { builder.little(sample.bitPattern, 4) }
                }
                return builder.bytes
            }
        }

        static let flac: @Sendable (AudioMaterial, AudioMaterial.Layout) -> [UInt8] = { material, _ in material.flac() }
        static let wave: @Sendable (AudioMaterial, AudioMaterial.Layout) -> [UInt8] = { $0.wave($1) }

        static let kinds: [Kind] = [
            Kind(name: "FLAC", bits: 8, make: flac), Kind(name: "FLAC", make: flac),
            Kind(name: "FLAC", rate: 96000, bits: 24, make: flac), Kind(name: "FLAC", bits: 32, make: flac),
            Kind(name: "FLAC", rate: 48000, channels: 1, bits: 24, make: flac),
            Kind(name: "FLAC", rate: 192_000, channels: 6, bits: 24, make: flac),
            Kind(name: "FLAC", rate: 48000, channels: 8, make: flac),
            Kind(name: "WAV", rate: 8000, channels: 1, bits: 8, make: wave), Kind(name: "WAV", make: wave),
            Kind(name: "WAV", rate: 48000, bits: 24, make: wave), Kind(name: "WAV", rate: 88200, bits: 32, make: wave),
            Kind(name: "WAV", bits: 24, layout: .float, make: wave),
            Kind(name: "WAV", rate: 48000, channels: 5, make: wave),
            Kind(name: "RF64", bits: 24, make: { $0.rf64($1) }), Kind(name: "W64", make: { $0.w64($1) }),
            Kind(name: "AIFF", bits: 24, make: { $0.aiff($1) }),
            Kind(name: "AIFF", rate: 48000, channels: 4, make: { $0.aiff($1) }),
            Kind(name: "AU", channels: 3, bits: 16, make: { material, layout in material.au(layout) }),
            Kind(name: "CAF", rate: 48000, channels: 7, bits: 24, make: { $0.caf($1) }),
            Kind(name: "CAF", bits: 24, layout: .float, make: { $0.caf($1) }),
            Kind(name: "FLAC", rate: 192_000, bits: 24, make: flac, sink: "s32le"),
            Kind(name: "FLAC", rate: 96000, bits: 24, make: flac, sink: "s24-32le"),
            Kind(name: "FLAC", bits: 24, make: flac, sink: "float32le"),
            Kind(name: "WAV", rate: 96000, bits: 24, make: wave, sink: "s32le"),
            Kind(name: "FLAC", rate: 192_000, make: flac, sink: "s24le"),
        ]

        /// The channel positions for this number of channels, on which the tests and the player agree.
        static func map(_ channels: Int) -> String {
            let maps = [
                "mono", "front-left,front-right", "front-left,front-right,front-center",
                "front-left,front-right,rear-left,rear-right",
                "front-left,front-right,front-center,rear-left,rear-right",
                "front-left,front-right,front-center,lfe,rear-left,rear-right",
                "front-left,front-right,front-center,lfe,rear-center,side-left,side-right",
                "front-left,front-right,front-center,lfe,rear-left,rear-right,side-left,side-right",
            ]
            return maps[channels - 1]
        }

        /// Number of sinks that are recorded side by side, as the tests compare no times.
        static let together = 5

        @Test("each kind of file is heard bit by bit", arguments: 0..<kinds.count / together)
        func exact(_ group: Int) async throws {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for index in group * Self.together..<(group + 1) * Self.together {
                    tasks.addTask { try await Self.compare(index) }
                }
                try await tasks.waitForAll()
            }
        }

        private static func compare(_ index: Int) async throws {
            let kind = kinds[index]
            let sink = TestSink("kind\(index)", format: kind.format, rate: kind.rate, channelMap: map(kind.channels))
            let place = await RecordedSink.start(sink)
            let material = AudioMaterial.noise(
                frames: kind.rate * 3 / 10, sampleRate: kind.rate, channels: kind.channels, bits: kind.bits)
            let file = place.daemon.folder.write(kind.make(material, kind.layout), "file")
            let client = place.follow()
            #expect(client.refusal("play", ["uri": .string(file)]) == "")
            #expect(client.event("stop").words == "stop ended")
            await place.recorder.waitFor(more: 0.2)
            place.recorder.stop()
            let recorded = place.recorder.bytes()
            let size = place.recorder.bytesPerFrame
            let expected = kind.expected(material)
            // A frame of noise that is all zero is not there: the first sound is the first frame.
            let first = try #require(recorded.firstIndex { $0 != 0 }, "nothing was heard") / size * size
            let heard = recorded[first...]
            let wrong = zip(heard, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
            #expect(wrong == nil, "\(kind) differs at byte \(wrong ?? 0) of \(expected.count)")
            #expect(heard.count >= expected.count)
            #expect(heard.dropFirst(expected.count).allSatisfy { $0 == 0 })
        }
    }
}
