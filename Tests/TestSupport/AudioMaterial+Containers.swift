extension AudioMaterial {
    /// An AIFF file, or with floats an AIFF-C one.
    package func aiff(_ layout: Layout = .integer) -> [UInt8] {
        let data = sampleBytes(layout, bigEndian: true)
        var common = ByteBuilder()
        common.big(channels, 2)
        common.big(frames, 4)
        common.big(sampleSize(layout) * 8, 2)
        // The rate as an 80 bit float: 1 ≤ significand < 2, with an explicit leading one.
        let exponent = 63 - UInt64(sampleRate).leadingZeroBitCount
        common.big(16383 + exponent, 2)
        common.big(UInt64(sampleRate) << (63 - exponent), 8)
        switch layout {
        case .integer: break
        case .float: common.text("fl32\u{0}\u{0}")
        case .double: common.text("fl64\u{0}\u{0}")
        }
        var body = ByteBuilder()
        body.text(layout == .integer ? "AIFF" : "AIFC")
        if layout != .integer {
            body.text("FVER")
            body.big(4, 4)
            body.big(0xA280_5140 as UInt32, 4)
        }
        body.text("COMM")
        body.big(common.bytes.count, 4)
        body.bytes += common.bytes
        body.text("SSND")
        body.big(8 + data.count, 4)
        body.big(0, 8)
        body.bytes += data
        if data.count % 2 == 1 { body.bytes.append(0) }
        var file = ByteBuilder()
        file.text("FORM")
        file.big(body.bytes.count, 4)
        return file.bytes + body.bytes
    }

    /// An AU file; `codes` instead of the samples where the coding is 1 (µ-law) or 27 (A-law).
    package func au(_ layout: Layout = .integer, dataSize: UInt32? = nil, coding: Int? = nil, codes: [UInt8]? = nil)
        -> [UInt8]
    {
        let data = codes ?? sampleBytes(layout, bigEndian: true)
        let usual =
            switch layout {
            case .integer: bits / 8 + 1
            case .float: 6
            case .double: 7
            }
        var file = ByteBuilder()
        file.text(".snd")
        file.big(24, 4)
        file.big(dataSize ?? UInt32(data.count), 4)
        file.big(coding ?? usual, 4)
        file.big(sampleRate, 4)
        file.big(channels, 4)
        return file.bytes + data
    }

    /// A CAF file of linear PCM, big endian.
    package func caf(_ layout: Layout = .integer) -> [UInt8] {
        let data = sampleBytes(layout, bigEndian: true)
        var file = ByteBuilder()
        file.text("caff")
        file.big(1, 2)
        file.big(0, 2)
        file.text("desc")
        file.big(32, 8)
        file.big(Double(sampleRate).bitPattern, 8)
        file.text("lpcm")
        file.big(layout == .integer ? 0 : 1, 4)
        file.big(sampleSize(layout) * channels, 4)
        file.big(1, 4)
        file.big(channels, 4)
        file.big(sampleSize(layout) * 8, 4)
        file.text("data")
        file.big(data.count + 4, 8)
        file.big(0, 4)
        return file.bytes + data
    }
}
