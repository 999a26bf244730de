import ChildDecoding
import Testing

/// Titles between the audio of a radio station.
@Suite struct IcyFilterTests {
    /// A stream of audio 0, 1, 2 … with these texts between.
    private static func stream(interval: Int, _ texts: [String]) -> (bytes: [UInt8], audio: [UInt8]) {
        var bytes: [UInt8] = []
        var audio: [UInt8] = []
        for text in texts + [""] {
            let part = (0..<interval).map { UInt8(truncatingIfNeeded: audio.count + $0) }
            audio += part
            bytes += part
            let blocks = (text.utf8.count + 15) / 16
            bytes.append(UInt8(blocks))
            bytes += Array(text.utf8) + [UInt8](repeating: 0, count: blocks * 16 - text.utf8.count)
        }
        return (bytes, audio)
    }

    @Test("audio and titles come apart, in pieces of any size", arguments: [1, 2, 3, 7, 16, 17, 100, 10_000])
    func pieces(_ size: Int) throws {
        let titles = ["StreamTitle='A - B';", "", "StreamTitle='C';StreamUrl='';", String(repeating: "x", count: 4080)]
        let stream = Self.stream(interval: 50, titles)
        var filter = try #require(IcyFilter(interval: 50))
        var audio: [UInt8] = []
        var found: [(at: Int, text: String)] = []
        for start in Swift.stride(from: 0, to: stream.bytes.count, by: size) {
            stream.bytes[start..<min(start + size, stream.bytes.count)].withUnsafeBytes { piece in
                filter.take(
                    piece, audio: { audio += $0 },
                    changed: { found.append((audio.count, String(decoding: $0, as: UTF8.self))) })
            }
        }
        #expect(audio == stream.audio)
        #expect(found.map(\.text) == titles.filter { !$0.isEmpty })
        #expect(found.map(\.at) == [50, 150, 200])
    }

    @Test("an interval that can't be meant is none", arguments: [0, -1, Int.max, 1 << 25])
    func intervals(_ interval: Int) { #expect(IcyFilter(interval: interval) == nil) }
}
