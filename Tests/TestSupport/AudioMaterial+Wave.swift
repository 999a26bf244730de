extension AudioMaterial {
    /// The fields of a `fmt ` chunk; with a `mask` it is a WAVEFORMATEXTENSIBLE.
    private func waveFormat(_ layout: Layout, mask: UInt32?) -> [UInt8] {
        let size = sampleSize(layout)
        let tag = layout == .integer ? 1 : 3
        var format = ByteBuilder()
        format.little(mask == nil ? tag : 0xFFFE, 2)
        format.little(channels, 2)
        format.little(sampleRate, 4)
        format.little(sampleRate * size * channels, 4)
        format.little(size * channels, 2)
        format.little(size * 8, 2)
        if let mask {
            format.little(22, 2)
            format.little(size * 8, 2)
            format.little(mask, 4)
            format.little(tag, 2)
            format.bytes += [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
        }
        return format.bytes
    }

    /// A WAV file. `dataSize`: the false size in the header; `info`: texts of a LIST INFO chunk by their
    /// four letters; `mask`: loudspeakers.
    package func wave(
        _ layout: Layout = .integer, dataSize: UInt32? = nil, mask: UInt32? = nil, info: [(String, [UInt8])] = []
    ) -> [UInt8] {
        let data = sampleBytes(layout, bigEndian: false, unsigned8: true)
        let format = waveFormat(layout, mask: mask)
        var body = ByteBuilder()
        body.text("WAVEfmt ")
        body.little(format.count, 4)
        body.bytes += format
        if !info.isEmpty {
            var list = ByteBuilder()
            list.text("INFO")
            for (name, text) in info {
                list.text(name)
                list.little(text.count + 1, 4)
                list.bytes += text + [0]
                if text.count % 2 == 0 { list.bytes.append(0) }
            }
            body.text("LIST")
            body.little(list.bytes.count, 4)
            body.bytes += list.bytes
        }
        body.text("data")
        body.little(dataSize ?? UInt32(data.count), 4)
        var file = ByteBuilder()
        file.text("RIFF")
        file.little(dataSize == nil ? UInt32(body.bytes.count + data.count) : dataSize! &+ 36, 4)
        return file.bytes + body.bytes + data + (data.count % 2 == 1 ? [0] : [])
    }

    /// The same as RF64 (EBU Tech 3306), whose sizes are in a chunk of 64-bit numbers. `dataBytes`: the false size in the
    /// header.
    package func rf64(_ layout: Layout = .integer, dataBytes: Int? = nil) -> [UInt8] {
        let data = sampleBytes(layout, bigEndian: false, unsigned8: true)
        let format = waveFormat(layout, mask: nil)
        var file = ByteBuilder()
        file.text("RF64")
        file.little(UInt32.max, 4)
        file.text("WAVEds64")
        file.little(28, 4)
        let dataBytes = dataBytes ?? data.count
        file.little(4 + 36 + 8 + format.count + 8 + dataBytes, 8)
        file.little(dataBytes, 8)
        file.little(dataBytes / (sampleSize(layout) * channels), 8)
        file.little(0, 4)
        file.text("fmt ")
        file.little(format.count, 4)
        file.bytes += format
        file.text("data")
        file.little(UInt32.max, 4)
        return file.bytes + data
    }

    /// The same as Sony Wave64: chunks are named by GUIDs, their sizes count the 24 bytes of their headers.
    package func w64(_ layout: Layout = .integer) -> [UInt8] {
        let data = sampleBytes(layout, bigEndian: false, unsigned8: true)
        let format = waveFormat(layout, mask: nil)
        let tail: [UInt8] = [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]
        var file = ByteBuilder()
        file.text("riff")
        file.bytes += [0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 0x04, 0xC1, 0x00, 0x00]
        file.little(40 + 24 + format.count + 24 + data.count, 8)
        file.text("wave")
        file.bytes += tail
        file.text("fmt ")
        file.bytes += tail
        file.little(24 + format.count, 8)
        file.bytes += format
        file.text("data")
        file.bytes += tail
        file.little(24 + data.count, 8)
        return file.bytes + data
    }
}
