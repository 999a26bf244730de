import AudioCore
import Testing

@Suite struct FixedFormatTests {
    @Test(
        "a format is its text",
        arguments: [
            ("48000:16:2", FixedFormat.Sample.int16, 48000, 2), ("44100:24:1", .int24, 44100, 1),
            ("192000:32:8", .int32, 192_000, 8), ("8000:f:2", .float32, 8000, 2),
        ])
    func reads(_ text: String, _ sample: FixedFormat.Sample, _ rate: Int, _ channels: Int) throws {
        let format = try #require(FixedFormat(text))
        #expect(format.sample == sample && format.sampleRate == rate && format.channels == channels)
        #expect(format.text == text)
        #expect(format.bytesPerFrame == (sample == .int16 ? 2 : 4) * channels)
        #expect(format.audioFormat.sampleRate == rate && format.audioFormat.channels.count == channels)
    }

    @Test(
        "all else is refused",
        arguments: [
            "", ":", "::", "48000", "48000:16", "48000:16:2:", "48000:16:2:1", "48000:8:2", "48000:20:2", "48000:16:0",
            "48000:16:9", "7999:16:2", "192001:16:2", "-48000:16:2", "+48000:16:2", "48000:16:+2", "48000:F:2",
            "48000 :16:2", "4e4:16:2", "48000:*:2", "99999999999999999999:16:2",
        ])
    func refuses(_ text: String) { #expect(FixedFormat(text) == nil) }

    @Test("most music passes a pipe bit for bit") func compactDisc() {
        #expect(FixedFormat.compactDisc.text == "44100:16:2")
        #expect(
            FixedFormat.compactDisc.audioFormat == AudioFormat(sampleFormat: .int16, sampleRate: 44100, channelCount: 2)
        )
    }
}
