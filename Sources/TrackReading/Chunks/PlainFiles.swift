import NowPlaying

/// Containers of plain samples besides WAV and AIFF: AU, CAF and Sony's W64.
enum PlainFiles {
    private static let maximumChunks = 1024

    /// AU: a header, an annotation, samples.
    static func readAU(_ window: FileWindow, at start: Int64, into track: inout FoundTrack) throws(TrackReadingError)
        -> Bool
    {
        let head = try window.bytes(at: start, count: 24)
        guard head.count == 24 else { return false }
        let isLittle = head.has("dns.")
        func number(_ index: Int) -> Int { isLittle ? head.little32(index) : head.big32(index) }
        let (coding, rate, channels) = (number(12), number(16), number(20))
        let bits: Int
        let codec: String
        switch coding {
        case 1: (codec, bits) = ("µ-law", 8)
        case 27: (codec, bits) = ("A-law", 8)
        case 2...5: (codec, bits) = ("PCM", (coding - 1) * 8)
        case 6: (codec, bits) = ("PCM (float)", 32)
        case 7: (codec, bits) = ("PCM (float)", 64)
        default: (codec, bits) = ("AU", 0)
        }
        track.sound.setFormat(
            codec, sampleRate: rate, channels: channels, bitsPerSample: codec.hasPrefix("PCM") ? bits : nil)
        let said = number(8)
        let most = max(0, window.size - start - Int64(number(4)))
        let length = said == 0xFFFF_FFFF ? most : min(Int64(said), most)
        if bits > 0, channels > 0 { track.sound.setLength(length / Int64(bits / 8 * channels), perSecond: rate) }
        return rate > 0
    }

    /// CAF: chunks with lengths of 64 bits.
    static func readCAF(_ window: FileWindow, at start: Int64, into track: inout FoundTrack) throws(TrackReadingError)
        -> Bool
    {
        var offset = start + 8
        var rate = 0
        var packetBytes: Int64 = 0
        var packetFrames: Int64 = 0
        for _ in 0..<maximumChunks {
            let head = try window.bytes(at: offset, count: 12)
            guard head.count == 12 else { break }
            var length = head.big64(4)
            let isData = head.has("data")
            if isData, length >= 1 << 56 { length = window.size - offset - 12 }
            if head.has("desc") {
                let bytes = try window.bytes(at: offset + 12, count: 32)
                guard bytes.count == 32 else { return false }
                rate = wholeRate(bytes)
                packetBytes = Int64(bytes.big32(16))
                packetFrames = Int64(bytes.big32(20))
                setCAFFormat(bytes, rate, into: &track)
            } else if isData, packetBytes > 0 {
                let samples = max(0, min(length, window.size - offset - 12) - 4)
                track.sound.setLength(samples / packetBytes * max(1, packetFrames), perSecond: rate)
            } else if head.has("pakt") {
                track.sound.setLength(try window.bytes(at: offset + 12, count: 24).big64(8), perSecond: rate)
            } else if head.has("info") {
                var source = FileStretch(window, from: offset + 16, to: offset + 12 + length)
                try readTexts(&source, into: &track.set)
            }
            offset += 12 + length
        }
        track.set.close()
        return rate > 0
    }

    private static func wholeRate(_ bytes: ByteView) -> Int {
        let high = UInt64(bytes.big32(0)) << 32
        let rate = Double(bitPattern: high | UInt64(bytes.big32(4)))
        return rate >= 1 && rate < 1e9 ? Int(clamping: rate) : 0
    }

    private static func setCAFFormat(_ bytes: ByteView, _ rate: Int, into track: inout FoundTrack) {
        let isFloat = bytes.big32(12) & 1 != 0
        var bits: Int? = bytes.big32(28)
        let codec: String
        switch bytes.big32(8) {
        case MP4Boxes.Box.code("lpcm"): codec = isFloat ? "PCM (float)" : "PCM"
        case MP4Boxes.Box.code("alac"): codec = "ALAC"
        case MP4Boxes.Box.code("ulaw"): codec = "µ-law"
        case MP4Boxes.Box.code("alaw"): codec = "A-law"
        case MP4Boxes.Box.code("aac "): codec = "AAC"
        case MP4Boxes.Box.code("opus"): codec = "Opus"
        default: codec = "CAF"
        }
        if !codec.hasPrefix("PCM") { bits = codec == "ALAC" && bits != 0 ? bits : nil }
        track.sound.setFormat(codec, sampleRate: rate, channels: bytes.big32(24), bitsPerSample: bits)
    }

    /// Pairs of texts that end with zeros.
    private static func readTexts(_ source: inout FileStretch, into set: inout TagSet) throws(TrackReadingError) {
        var meaning: TagMeaning?
        for index in 0..<1024 {
            let bytes = try source.peek(8 << 10)
            guard let zero = bytes.firstIndex(of: 0) else { return }
            let text = bytes.part(0, zero)
            if index % 2 == 0 {
                meaning = names.meaning(text)
            } else if let meaning, !text.isEmpty {
                set.take(meaning, text)
            }
            try source.skip(Int64(zero) + 1)
        }
    }

    private static let names = NameTable([
        ("TITLE", .value(.title)), ("ARTIST", .value(.artist)), ("ALBUM", .value(.album)),
        ("COMPOSER", .value(.composer)), ("GENRE", .value(.genre)), ("YEAR", .value(.date)),
        ("RECORDED DATE", .value(.date)), ("TRACK NUMBER", .number(.track)), ("COMMENTS", .value(.comment)),
        ("LYRICIST", .value(.lyricist)), ("COPYRIGHT", .value(.copyright)), ("TEMPO", .value(.bpm)),
        ("KEY SIGNATURE", .value(.key)), ("ENCODING APPLICATION", .value(.encodedBy)),
    ])

    /// W64: chunks with identities of 16 bytes and lengths of 64 bits, which include the header.
    static func readW64(_ window: FileWindow, at start: Int64, into track: inout FoundTrack) throws(TrackReadingError)
        -> Bool
    {
        var offset = start + 40
        var (rate, blockBytes) = (0, 0)
        for _ in 0..<maximumChunks {
            let head = try window.bytes(at: offset, count: 24)
            guard head.count == 24 else { break }
            let length = head.little64(16)
            guard length >= 24 else { break }
            if head.has("fmt ") {
                let bytes = try window.bytes(at: offset + 24, count: 26)
                var tag = bytes.little16(0)
                if tag == 0xFFFE { tag = bytes.little16(24) }
                let codec = SampleCodecs.wave(tag)
                (rate, blockBytes) = (bytes.little32(4), bytes.little16(12))
                track.sound.setFormat(
                    codec, sampleRate: rate, channels: bytes.little16(2),
                    bitsPerSample: codec.hasPrefix("PCM") ? bytes.little16(14) : nil)
            } else if head.has("data"), blockBytes > 0 {
                let samples = min(length, window.size - offset) - 24
                track.sound.setLength(samples / Int64(blockBytes), perSecond: rate)
            }
            // Chunks begin at multiples of eight.
            offset += (length + 7) / 8 * 8
        }
        return rate > 0
    }
}
