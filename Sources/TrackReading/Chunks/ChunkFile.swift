/// WAV, RF64 and AIFF files: chunks with four letters and a length.
struct ChunkFile {
    private let window: FileWindow
    private let isLittle: Bool
    /// Fields of the chunk with an ID3 tag, and of the format's own texts.
    private var tag: TagSet?
    private var texts = TagSet()
    private var dataBytes: Int64 = 0
    private var sampleRate = 0
    private var channels = 0
    private var bits = 0
    private var blockBytes = 0
    /// Frames; nil: the file does not say.
    private var frames: Int64?
    private var codec = ""
    /// Length of the data in RF64, whose own field is too small for it.
    private var longDataBytes: Int64?

    private static let maximumChunks = 1024

    /// Reads the chunks of the file that begins at `start`. `isLittle`: WAV, else AIFF. False: there is no sound in it.
    static func read(
        _ window: FileWindow, at start: Int64, isLittle: Bool, into track: inout FoundTrack
    ) throws(TrackReadingError) -> Bool {
        var file = ChunkFile(window: window, isLittle: isLittle)
        try file.readChunks(from: start + 12)
        return file.write(into: &track)
    }

    private init(window: FileWindow, isLittle: Bool) {
        self.window = window
        self.isLittle = isLittle
    }

    private func number32(_ bytes: ByteView, _ index: Int) -> Int {
        isLittle ? bytes.little32(index) : bytes.big32(index)
    }

    private mutating func readChunks(from start: Int64) throws(TrackReadingError) {
        var offset = start
        for _ in 0..<Self.maximumChunks {
            let head = try window.bytes(at: offset, count: 8)
            guard head.count == 8 else { break }
            var length = Int64(number32(head, 4))
            if head.has("data"), isLittle, length == 0xFFFF_FFFF, let long = longDataBytes { length = long }
            if head.has("data") || head.has("SSND") {
                if isLittle, length == 0 { length = try unfinishedLength(at: offset + 8) }
                dataBytes = min(length, max(0, window.size - offset - 8))
                if !isLittle { dataBytes -= min(8, dataBytes) }
            } else {
                try take(head.big32(0), from: offset + 8, length: length)
            }
            // Chunks begin at even offsets.
            offset += 8 + length + length % 2
        }
        texts.close()
    }

    /// Length of sound whose recorder died before it wrote the length, from here to the end of the file; 0: a further chunk
    /// begins here, or nothing.
    private func unfinishedLength(at offset: Int64) throws(TrackReadingError) -> Int64 {
        let rest = window.size - offset
        let next = try window.bytes(at: offset, count: 8)
        let isChunk = (0..<4).allSatisfy { (0x20..<0x7F).contains(next[$0]) } && Int64(next.little32(4)) <= rest - 8
        return next.count < 8 || isChunk ? 0 : rest
    }

    private mutating func take(_ type: Int, from start: Int64, length: Int64) throws(TrackReadingError) {
        switch type {
        case MP4Boxes.Box.code("fmt "): takeWaveFormat(try window.bytes(at: start, count: Int(min(40, length))))
        case MP4Boxes.Box.code("COMM"): takeCommon(try window.bytes(at: start, count: Int(min(22, length))))
        case MP4Boxes.Box.code("ds64"): longDataBytes = try window.bytes(at: start, count: 24).little64(8)
        case MP4Boxes.Box.code("fact"):
            frames = Int64(number32(try window.bytes(at: start, count: 4), 0))
        case MP4Boxes.Box.code("LIST"):
            if try window.bytes(at: start, count: 4).has("INFO") { try takeList(from: start + 4, to: start + length) }
        case MP4Boxes.Box.code("id3 "), MP4Boxes.Box.code("ID3 "), MP4Boxes.Box.code("ID32"):
            if tag == nil { tag = try ID3Tag(window, at: start)?.set }
        default:
            guard !isLittle, let meaning = RIFFNames.meaning(type) else { return }
            texts.take(meaning, try window.bytes(at: start, count: Int(min(length, 4096))).untilZero)
        }
    }

    private mutating func takeList(from start: Int64, to end: Int64) throws(TrackReadingError) {
        var offset = start
        for _ in 0..<Self.maximumChunks where offset + 8 <= end {
            let head = try window.bytes(at: offset, count: 8)
            guard head.count == 8 else { return }
            let length = Int64(number32(head, 4))
            if let meaning = RIFFNames.meaning(head.big32(0)) {
                let value = try window.bytes(at: offset + 8, count: Int(min(length, end - offset - 8, 4096 + 4)))
                let text = value.untilZero
                if !text.isEmpty { texts.take(meaning, text) }
            }
            offset += 8 + length + length % 2
        }
    }

    private mutating func takeWaveFormat(_ bytes: ByteView) {
        guard bytes.count >= 16 else { return }
        var tag = bytes.little16(0)
        channels = bytes.little16(2)
        sampleRate = bytes.little32(4)
        blockBytes = bytes.little16(12)
        bits = bytes.little16(14)
        if tag == 0xFFFE, bytes.count >= 26 { tag = bytes.little16(24) }
        codec = SampleCodecs.wave(tag)
    }

    private mutating func takeCommon(_ bytes: ByteView) {
        guard bytes.count >= 18 else { return }
        channels = bytes.big16(0)
        frames = Int64(bytes.big32(2))
        bits = bytes.big16(6)
        sampleRate = SampleCodecs.extendedRate(bytes.part(8, 10))
        blockBytes = channels * ((bits + 7) / 8)
        codec = bytes.count >= 22 ? SampleCodecs.aiff(bytes.big32(18)) : "PCM"
        if codec == "PCM (float)" { bits = bytes.big32(18) & 0xFFFF == 0x3634 ? 64 : 32 }
    }

    private func write(into track: inout FoundTrack) -> Bool {
        guard sampleRate > 0, !codec.isEmpty else { return false }
        let isPlain = codec.hasPrefix("PCM")
        track.sound.setFormat(codec, sampleRate: sampleRate, channels: channels, bitsPerSample: isPlain ? bits : nil)
        let counted = blockBytes > 0 ? dataBytes / Int64(blockBytes) : 0
        // For plain samples, the data is more reliable than the header: the file may be cut.
        track.sound.setLength(isPlain || frames == nil ? counted : frames ?? 0, perSecond: sampleRate)
        if let tag { track.set = tag }
        track.set.fill(from: texts)
        return true
    }
}
