import AudioCore
import AudioDecoders
import TestSupport
import Testing

/// FLAC files whose header says another length than there is.
@Suite struct FLACLengthTests {
    private let folder = TemporaryFolder()
    private let material = AudioMaterial.noise(frames: 10_300)

    /// Blocks of 1000 frames, or of changing length, under a header that promises so many frames.
    private func file(promising frames: Int, isVariable: Bool, _ parts: ([[UInt8]]) -> [[UInt8]] = { $0 }) -> [UInt8] {
        var options = FLACOptions()
        options.blockFrames = isVariable ? [1000, 576, 1152] : [1000]
        var header = Array(material.flac(options).prefix(42))
        for index in 0..<4 { header[22 + index] = UInt8(truncatingIfNeeded: frames >> (24 - 8 * index)) }
        return header + parts(material.flacFrames(options)).flatMap { $0 }
    }

    /// Opens the bytes, expects this number of frames of the material, announced and delivered, and seeks to the last of them.
    private func check(_ bytes: [UInt8], frames: Int, _ comment: String) throws {
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "a.flac"))
        #expect(decoder.lengthInFrames == Int64(frames), "\(comment)")
        let all = expectedBytes(material, .int16)[..<(frames * 4)]
        expectSame(try readFrames(decoder), all, comment)
        try decoder.seek(toFrame: Int64(frames - 1))
        expectSame(try readFrames(decoder), all.suffix(4), comment)
        try decoder.seek(toFrame: 1500)
        expectSame(try readFrames(decoder, frames: 2000), all[6000..<14_000], comment)
    }

    @Test("the real length is announced and played, whatever the header promises", arguments: [false, true])
    func promises(isVariable: Bool) throws {
        for promised in [1, 999, 1000, 4000, 4500, 9000, 10_000, 10_300, 12_000, 1_000_000, .max >> 40] {
            let bytes = file(promising: promised, isVariable: isVariable)
            // Less than a block too much may as well be a block that was lost.
            if promised == 12_000, !isVariable || promised - 10_300 > 1152 {
                try check(bytes, frames: 10_300, "\(promised) promised")
            } else if promised != 12_000 {
                try check(bytes, frames: 10_300, "\(promised) promised")
            }
            let tag = Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 125)
            if promised > 10_300 { try check(bytes + tag, frames: 10_300, "\(promised) promised, a tag behind") }
        }
    }

    @Test("cut off in a block: as long as the blocks before it") func cutOff() throws {
        let whole = file(promising: 10_300, isVariable: false)
        for missing in [4000, 9000, 20_000] {
            let blocks = (whole.count - missing - 42) / ((whole.count - 42 - 1216) / 10)
            try check(Array(whole.dropLast(missing)), frames: blocks * 1000, "\(missing) bytes missing")
        }
    }

    @Test("a second file behind it is not played with its header", arguments: [false, true])
    func secondFile(isLonger: Bool) throws {
        let first = file(promising: 10_300, isVariable: false)
        let second = AudioMaterial.noise(frames: isLonger ? 40_000 : 5000, seed: 7).flac()
        try check(first + second, frames: 10_300, "another file behind it")
    }
}
