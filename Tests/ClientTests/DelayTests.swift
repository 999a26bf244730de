import SnapcastControl
import Testing

@testable import nowplayingctl

/// The delay of an output, computed from recordings that are made up.
@Suite struct DelayTests {
    private static let rate = Double(ClickSignal.rate)

    /// Noise between -1 and 1, the same for a seed.
    private static func noise(_ count: Int, _ seed: UInt64) -> [Float] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Float(state >> 40) / Float(1 << 24) * 2 - 1
        }
    }

    /// A recording of 10 s that begins at instant 100 of a sound that plays from `start` on. `clicks`: which are in it.
    private static func recording(
        start: Double, level: Float = 1, noise: Float = 0.05, seed: UInt64 = 1, clicks: Range<Int> = 0..<5
    ) -> [Float] {
        var result = Self.noise(Int(10 * rate), seed).map { $0 * noise }
        let burst = ClickSignal().burst
        for click in ClickSignal.starts[clicks] {
            let first = Int(((start + click - 100) * rate).rounded())
            for (index, sample) in burst.enumerated() where result.indices.contains(first + index) {
                result[first + index] += sample * level
            }
        }
        return result
    }

    @Test(
        "a delay is found to the frame, whatever its size, the level and the sign",
        arguments: [
            (0.0, Float(1)), (0.183, -1), (-0.3, 0.2), (2.0, 0.05), (3.9, 1),
        ])
    func found(_ delay: Double, _ level: Float) throws {
        let recording = Self.recording(start: 101 + delay, level: level)
        let outcome = try #require(DelayMeasurement.outcome(recording, begun: 100, played: 101))
        #expect(abs(outcome.later - delay) <= 1 / Self.rate, "\(outcome)")
        #expect(outcome.clicks == 5 && outcome.spread <= 2 / Self.rate)
    }

    @Test("noise, silence and too few clicks are no delay") func nothing() {
        for seed in 1...20 as ClosedRange<UInt64> {
            let noise = Self.recording(start: 101, level: 0, noise: 0.5, seed: seed)
            #expect(DelayMeasurement.outcome(noise, begun: 100, played: 101) == nil, "seed \(seed)")
        }
        let silence = [Float](repeating: 0, count: Int(10 * Self.rate))
        #expect(DelayMeasurement.outcome(silence, begun: 100, played: 101) == nil)
        #expect(DelayMeasurement.outcome([], begun: 100, played: 101) == nil)
        let two = Self.recording(start: 101, clicks: 0..<2)
        #expect(DelayMeasurement.outcome(two, begun: 100, played: 101) == nil)
    }

    @Test("a quiet room is measured; in a noisy one clicks count only if they rise out of the noise") func noise()
        throws
    {
        // The power of a click at which 40 ms of it still rise eight times over the noise.
        for (level, noise) in [(Float(0.002), Float(0.0001)), (0.02, 0.02), (1, 0.8)] {
            let recording = Self.recording(start: 101.25, level: level, noise: noise)
            let outcome = try #require(DelayMeasurement.outcome(recording, begun: 100, played: 101), "\(level)")
            #expect(abs(outcome.later - 0.25) <= 2 / Self.rate && outcome.clicks == 5, "\(level): \(outcome)")
        }
        for seed in 1...3 as ClosedRange<UInt64> {
            let drowned = Self.recording(start: 101.25, level: 0.02, noise: 1, seed: seed)
            #expect(DelayMeasurement.outcome(drowned, begun: 100, played: 101) == nil, "seed \(seed)")
        }
    }

    @Test("an echo is later and weaker than the sound, which is measured") func echo() throws {
        var recording = Self.recording(start: 101.1)
        let echo = Self.recording(start: 101.145, level: 0.7, noise: 0)
        for index in recording.indices { recording[index] += echo[index] }
        let outcome = try #require(DelayMeasurement.outcome(recording, begun: 100, played: 101))
        #expect(abs(outcome.later - 0.1) <= 1 / Self.rate && outcome.clicks == 5, "\(outcome)")
    }

    @Test("a click that something covers does not count, and neither does one at a wrong time") func single() throws {
        let three = Self.recording(start: 101.3, clicks: 1..<4)
        #expect(try #require(DelayMeasurement.outcome(three, begun: 100, played: 101)).clicks == 3)
        // Two clicks that agree are too few, even with a third one.
        var two = Self.recording(start: 101.3, clicks: 0..<2)
        let stray = Self.recording(start: 101.35, noise: 0, clicks: 3..<4)
        for index in two.indices { two[index] += stray[index] }
        #expect(DelayMeasurement.outcome(two, begun: 100, played: 101) == nil)
    }

    @Test("a monitor as the default source is no microphone") func monitor() {
        #expect(throws: Failure.self) { try DelayMeasurement.refuseMonitor("alsa_output.hdmi\u{1B}[31m.monitor") }
        #expect(throws: Never.self) { try DelayMeasurement.refuseMonitor("alsa_input.usb-mic") }
        #expect(throws: Never.self) { try DelayMeasurement.refuseMonitor("") }
    }

    @Test("the file is a WAV file with five bursts") func file() {
        let file = ClickSignal().file
        #expect(Array(file[0..<4]) == Array("RIFF".utf8) && Array(file[8..<16]) == Array("WAVEfmt ".utf8))
        #expect(file.count == 44 + 2 * Int(ClickSignal.seconds * Self.rate))
    }
}

/// Addresses of Snapcast servers as people type them.
@Suite struct SnapcastAddressTextTests {
    @Test(
        arguments: [
            ("box", "box", 1705), ("box.lan:1800", "box.lan", 1800), ("[::1]:1800", "::1", 1800),
            ("[::1]", "::1", 1705),
            ("fe80::1", "fe80::1", 1705), ("192.0.2.7", "192.0.2.7", 1705),
        ] as [(String, String, UInt16)])
    func right(_ text: String, _ host: String, _ port: UInt16) {
        let address = SnapcastServer.Address(text)
        #expect(address?.host == host && address?.port == port)
    }

    @Test(arguments: ["", ":1705", "box:", "box:0", "box:65536", "box:x", "a b", "[::1", "[::1]x", "b\u{1B}x", "ü"])
    func wrong(_ text: String) { #expect(SnapcastServer.Address(text) == nil) }
}
