/// The facts of a track of an MP4 file.
struct MP4Track {
    /// True if it is an audio track.
    private(set) var isSound = false
    /// Number by which other tracks refer to it.
    private(set) var number = 0
    /// Numbers of its chapter tracks.
    private(set) var chapterTracks: [Int] = []
    /// Units of its times in a second.
    private(set) var timescale = 0
    /// The boxes of its samples.
    private(set) var sampleTable: MP4Boxes.Box?
    private var duration: Int64 = 0
    /// Length by its edit list, in units of the movie; nil: it has no list.
    private var edited: Int64?
    private var codec = ""
    private var sampleRate = 0
    private var channels = 0
    private var bitsPerSample: Int?
    private var bitRate: Int?

    private static let maximumBoxes = 256

    /// Reads the box of a track.
    init(_ window: FileWindow, _ track: MP4Boxes.Box) throws(TrackReadingError) {
        try readInner(window, track, depth: 0)
    }

    private mutating func readInner(
        _ window: FileWindow, _ outer: MP4Boxes.Box, depth: Int
    ) throws(TrackReadingError) {
        var boxes = MP4Boxes(window, in: outer)
        for _ in 0..<Self.maximumBoxes {
            guard let box = try boxes.next() else { return }
            if box.isA("tkhd") {
                let bytes = try window.bytes(at: box.start, count: 28)
                number = bytes.big32(bytes[0] == 1 ? 20 : 12)
            } else if box.isA("mdhd") {
                (timescale, duration) = try MP4File.times(window, box)
            } else if box.isA("hdlr") {
                isSound = try window.bytes(at: box.start + 8, count: 4).has("soun")
            } else if box.isA("elst") {
                try readEdits(window, box)
            } else if box.isA("chap") {
                let bytes = try window.bytes(at: box.start, count: Int(min(64, box.end - box.start)))
                chapterTracks = (0..<bytes.count / 4).map { bytes.big32(4 * $0) }
            } else if box.isA("stsd") {
                try readDescription(window, box)
            } else if depth < 4, ["mdia", "minf", "stbl", "edts", "tref"].contains(where: { box.isA($0) }) {
                if box.isA("stbl") { sampleTable = box }
                try readInner(window, box, depth: depth + 1)
            }
        }
    }

    /// Adds up the edits that play media; the others are pauses.
    private mutating func readEdits(_ window: FileWindow, _ box: MP4Boxes.Box) throws(TrackReadingError) {
        let head = try window.bytes(at: box.start, count: 8)
        let isLong = head[0] == 1
        let count = min(head.big32(4), 1024)
        let entryBytes = isLong ? 20 : 12
        var sum: Int64 = 0
        var plays = 0
        for index in 0..<count {
            let start = box.start + 8 + Int64(index * entryBytes)
            guard start + Int64(entryBytes) <= box.end else { break }
            let entry = try window.bytes(at: start, count: entryBytes)
            let isPause = entry.big32(isLong ? 8 : 4) == 0xFFFF_FFFF
            if isPause { continue }
            plays += 1
            sum += min(isLong ? entry.big64(0) : Int64(entry.big32(0)), 1 << 44)
        }
        if plays > 0, sum > 0 { edited = sum }
    }

    /// The first entry of `stsd`: the coding, and boxes with its details.
    private mutating func readDescription(_ window: FileWindow, _ box: MP4Boxes.Box) throws(TrackReadingError) {
        guard isSound else { return }
        var entries = MP4Boxes(window, in: box, after: 8)
        guard let entry = try entries.next() else { return }
        let bytes = try window.bytes(at: entry.start, count: 28 + 36)
        guard bytes.count >= 28 else { return }
        let version = bytes.big16(8)
        channels = bytes.big16(16)
        let bits = bytes.big16(18)
        sampleRate = bytes.big16(24)
        codec = Self.codecs[entry.type] ?? "MP4"
        if Self.plainCodecs.contains(codec) { bitsPerSample = bits }
        let extra: Int64 = version == 1 ? 16 : version == 2 ? 36 : 0
        try readCoding(window, MP4Boxes(window, in: entry, after: 28 + extra), isInner: false)
    }

    private mutating func readCoding(
        _ window: FileWindow, _ boxes: MP4Boxes, isInner: Bool
    ) throws(TrackReadingError) {
        var boxes = boxes
        for _ in 0..<32 {
            guard let box = try boxes.next() else { return }
            if box.isA("wave"), !isInner {
                try readCoding(window, MP4Boxes(window, in: box), isInner: true)
            } else if box.isA("esds") {
                try readElementary(try window.bytes(at: box.start + 4, count: 96))
            } else if box.isA("alac") {
                let cookie = try window.bytes(at: box.start + 4, count: 24)
                guard cookie.count == 24 else { continue }
                codec = "ALAC"
                bitsPerSample = Int(cookie[5])
                channels = Int(cookie[9])
                sampleRate = cookie.big32(20)
            } else if box.isA("dfLa") {
                let info = try window.bytes(at: box.start + 8, count: 18)
                sampleRate = info.big24(10) >> 4
                bitsPerSample = (Int(info[12] & 1) << 4 | Int(info[13] >> 4)) + 1
            }
        }
    }

    /// The descriptors of MPEG-4 (ISO 14496-1 §7.2.6): kind of the coding, its bit rate and its configuration.
    private mutating func readElementary(_ bytes: ByteView) throws(TrackReadingError) {
        var index = 0
        func descriptor(_ tag: UInt8) -> Bool {
            guard bytes[index] == tag else { return false }
            index += 1
            while bytes[index] & 0x80 != 0, index < bytes.count { index += 1 }
            index += 1
            return true
        }
        guard descriptor(3) else { return }
        let flags = bytes[index + 2]
        index += 3 + (flags & 0x80 != 0 ? 2 : 0) + (flags & 0x20 != 0 ? 2 : 0)
        if flags & 0x40 != 0 { index += 1 + Int(bytes[index]) }
        guard descriptor(4) else { return }
        switch bytes[index] {
        case 0x40, 0x66, 0x67, 0x68: codec = "AAC"
        case 0x69, 0x6B: codec = "MP3"
        case 0xA5: codec = "AC-3"
        case 0xA6: codec = "E-AC-3"
        case 0xA9: codec = "DTS"
        default: break
        }
        let average = bytes.big32(index + 9)
        if average > 0 { bitRate = average }
        index += 13
        guard codec == "AAC", descriptor(5) else { return }
        let configuration = bytes.big32(index)
        let rateIndex = configuration >> 23 & 15
        // The sample rate of the entry may be halved, and is at most 65,535.
        if Self.rates.indices.contains(rateIndex) { sampleRate = Self.rates[rateIndex] }
        let layout = configuration >> 19 & 15
        if rateIndex < 13, (1...7).contains(layout) { channels = layout == 7 ? 8 : layout }
    }

    /// Writes length and kind of the sound.
    func write(movieTimescale: Int, movieDuration: Int64, into track: inout FoundTrack) {
        track.sound.setFormat(
            codec, sampleRate: sampleRate, channels: channels, bitsPerSample: bitsPerSample, bitRate: bitRate)
        if let edited, movieTimescale > 0 {
            track.sound.setLength(edited, perSecond: movieTimescale)
        } else if duration > 0 {
            track.sound.setLength(duration, perSecond: timescale)
        } else {
            track.sound.setLength(movieDuration, perSecond: movieTimescale)
        }
    }

    private static let rates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350,
    ]
    private static let plainCodecs: Set<String> = ["ALAC", "FLAC", "PCM"]
    private static let codecs: [Int: String] = Dictionary(
        [
            ("mp4a", "AAC"), ("alac", "ALAC"), ("fLaC", "FLAC"), ("Opus", "Opus"), ("ac-3", "AC-3"),
            ("ec-3", "E-AC-3"), (".mp3", "MP3"), ("sowt", "PCM"), ("twos", "PCM"), ("lpcm", "PCM"), ("in24", "PCM"),
            ("in32", "PCM"), ("samr", "AMR"), ("sawb", "AMR-WB"), ("ulaw", "µ-law"), ("alaw", "A-law"),
        ].map { (MP4Boxes.Box.code($0.0), $0.1) }, uniquingKeysWith: { first, _ in first })
}
