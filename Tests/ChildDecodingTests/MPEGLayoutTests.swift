import ChildDecoding
import Testing

/// Offsets of frames of MPEG audio: exact at a constant bit rate, near with a table.
@Suite struct MPEGLayoutTests {
    /// Frames of layer III with their offsets: version 1 or 2 at this bit rate index, 44.1 or 22.05 kHz.
    private static func frames(
        _ count: Int, version: Int = 1, pads: Bool = true, index: (Int) -> Int
    ) -> (bytes: [UInt8], offsets: [Int64]) {
        let rates =
            version == 1
            ? [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
            : [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
        let (factor, sampleRate) = version == 1 ? (144, 44_100) : (72, 22_050)
        var bytes: [UInt8] = []
        var offsets: [Int64] = []
        var left = 0
        for frame in 0..<count {
            let rate = rates[index(frame)] * 1000
            left += factor * rate % sampleRate
            let isPadded = pads && left >= sampleRate
            if isPadded { left -= sampleRate }
            let length = factor * rate / sampleRate + (isPadded ? 1 : 0)
            offsets.append(Int64(bytes.count))
            bytes += [0xFF, version == 1 ? 0xFB : 0xF3, UInt8(index(frame) << 4 | (isPadded ? 2 : 0)), 0x44]
            bytes += [UInt8](repeating: 0, count: length - 4)
        }
        return (bytes, offsets)
    }

    @Test("each frame of a constant bit rate is found by its offset, and its offset by its number", arguments: 1...14)
    func constant(_ index: Int) throws {
        for (version, pads) in [(1, true), (1, false), (2, true), (2, false)] {
            let (bytes, offsets) = Self.frames(4000, version: version, pads: pads) { _ in index }
            let layout = try #require(MPEGLayout(Array(bytes.prefix(16 << 10)), at: 77, end: 77 + Int64(bytes.count)))
            #expect(layout.isExact)
            for (number, offset) in offsets.enumerated() {
                #expect(layout.frame(at: 77 + offset) == Int64(number), "version \(version), frame \(number)")
                #expect(
                    abs(layout.offset(ofFrame: Int64(number)) - 77 - offset) <= 1, "version \(version), frame \(number)"
                )
            }
        }
    }

    /// A first frame with a header of the whole stream.
    private static func info(_ name: String, frames: Int, bytes: Int, table: [UInt8]) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        let head = [0xFF, 0xFB, 0x90, 0x44] + [UInt8](repeating: 0, count: 32) + Array(name.utf8) + number(7)
        let body = head + number(frames) + number(bytes) + table
        return body + [UInt8](repeating: 0, count: 417 - body.count)
    }

    @Test("with a table a frame is found within a step of it, and a jump lands where it says")
    func table() throws {
        let (audio, offsets) = Self.frames(20_000) { $0 / 100 % 2 == 0 ? 5 : 11 }
        let whole = audio.count + 417
        let table = (0..<100).map { UInt8((offsets[$0 * 200] + 417) * 256 / Int64(whole)) }
        let bytes = Self.info("Xing", frames: 20_000, bytes: whole, table: table) + audio
        let layout = try #require(MPEGLayout(Array(bytes.prefix(16 << 10)), at: 0, end: Int64(bytes.count)))
        #expect(!layout.isExact)
        for number in stride(from: 0, to: 20_000, by: 37) {
            let offset = layout.offset(ofFrame: Int64(number))
            // Half a step of the table, and the unevenness within a percent.
            #expect(abs(Int(offset) - 417 - Int(offsets[number])) < whole / 256, "frame \(number)")
            #expect(abs(layout.frame(at: offset) - Int64(number)) <= 1 || number < 200, "frame \(number)")
        }
        #expect(layout.offset(ofFrame: 0) == 417)
    }

    @Test("the header of a constant bit rate is no frame of audio")
    func header() throws {
        let (audio, offsets) = Self.frames(3000) { _ in 9 }
        let bytes =
            Self.info("Info", frames: 3000, bytes: audio.count + 417, table: .init(repeating: 0, count: 100)) + audio
        let layout = try #require(MPEGLayout(Array(bytes.prefix(16 << 10)), at: 0, end: Int64(bytes.count)))
        #expect(layout.isExact)
        for (number, offset) in offsets.enumerated() { #expect(layout.frame(at: 417 + offset) == Int64(number)) }
    }

    @Test("bytes that are no MPEG audio have no layout; lies do not overflow")
    func lies() throws {
        #expect(MPEGLayout([], at: 0, end: 100) == nil)
        #expect(MPEGLayout([UInt8](repeating: 0xFF, count: 5000), at: 0, end: 5000) == nil)
        let (audio, _) = Self.frames(40) { _ in 9 }
        #expect(MPEGLayout(audio, at: 100, end: 100) == nil)
        let info = Self.info("Xing", frames: -1, bytes: -1, table: (0..<100).map { UInt8($0) }) + audio
        for end in [Int64(info.count), .max] {
            guard let layout = MPEGLayout(info, at: 0, end: end) else { continue }
            for number in [0, 1, .max, .min] as [Int64] {
                #expect(layout.offset(ofFrame: number) >= 0)
                #expect(layout.frame(at: number) >= 0)
            }
        }
    }

    @Test("the size of a tag")
    func tags() {
        #expect(MPEGLayout.tagBytes([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 2, 1]) == 267)
        #expect(MPEGLayout.tagBytes([0x49, 0x44, 0x33, 4, 0, 0x10, 0, 0, 2, 1]) == 277)
        #expect(MPEGLayout.tagBytes([0x49, 0x44, 0x33, 4, 0, 0, 0x80, 0, 0, 0]) == 0)
        #expect(MPEGLayout.tagBytes([0xFF, 0xFB]) == 0)
    }
}
