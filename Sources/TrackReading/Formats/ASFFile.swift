/// Windows Media files (ASF): objects with identities of 16 bytes, in a header at the beginning.
struct ASFFile {
    private let window: FileWindow
    private var set: TagSet
    private var hasSound = false

    private static let maximumObjects = 256
    private static let maximumItems = 1024
    private static let maximumValue = 16 << 10

    /// Identities of objects, by their first eight bytes.
    private enum Identity {
        static let header: [UInt8] = [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]
        static let file: [UInt8] = [0xA1, 0xDC, 0xAB, 0x8C, 0x47, 0xA9, 0xCF, 0x11]
        static let stream: [UInt8] = [0x91, 0x07, 0xDC, 0xB7, 0xB7, 0xA9, 0xCF, 0x11]
        static let sound: [UInt8] = [0x40, 0x9E, 0x69, 0xF8, 0x4D, 0x5B, 0xCF, 0x11]
        static let content: [UInt8] = [0x33, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]
        static let extended: [UInt8] = [0x40, 0xA4, 0xD0, 0xD2, 0x07, 0xE3, 0xD2, 0x11]
        static let headerExtension: [UInt8] = [0xB5, 0x03, 0xBF, 0x5F, 0x2E, 0xA9, 0xCF, 0x11]
        static let library: [UInt8] = [0x94, 0x1C, 0x23, 0x44, 0x98, 0x94, 0xD1, 0x49]
        static let metadata: [UInt8] = [0xEA, 0xCB, 0xF8, 0xC5, 0xAF, 0x5B, 0x77, 0x48]
    }

    /// True if a file begins with these bytes.
    static func begins(_ bytes: ByteView) -> Bool { isSame(bytes, Identity.header) }

    private static func isSame(_ bytes: ByteView, _ identity: [UInt8]) -> Bool {
        bytes.count >= 8 && identity.indices.allSatisfy { bytes[$0] == identity[$0] }
    }

    /// Reads the header at `start`; false: it has no sound.
    static func read(
        _ window: FileWindow, at start: Int64, into track: inout FoundTrack
    ) throws(TrackReadingError) -> Bool {
        var file = ASFFile(window: window)
        let length = try window.bytes(at: start, count: 30).little64(16)
        // Values of the header extension follow those of the header, in any order in the file.
        for part in [Part.header, .inExtension] {
            try file.readObjects(
                FileStretch(window, from: start + 30, to: start + length), part, depth: 0, into: &track)
        }
        file.set.close()
        track.set = file.set
        return file.hasSound
    }

    private init(window: FileWindow) {
        self.window = window
        set = TagSet(keepsComments: window.keepsComments)
    }

    /// The part of the header that is read.
    private enum Part { case header, inExtension }

    private mutating func readObjects(
        _ stretch: FileStretch, _ part: Part, depth: Int, into track: inout FoundTrack
    ) throws(TrackReadingError) {
        var source = stretch
        for _ in 0..<Self.maximumObjects {
            let head = try source.peek(24)
            guard head.count == 24 else { return }
            let length = head.little64(16)
            guard length >= 24 else { return }
            let object = FileStretch(window, from: source.offset + 24, to: source.offset + length)
            try take(head, object, part, depth: depth, into: &track)
            try source.skip(length)
        }
    }

    private mutating func take(
        _ head: ByteView, _ object: FileStretch, _ part: Part, depth: Int, into track: inout FoundTrack
    ) throws(TrackReadingError) {
        var object = object
        if part == .inExtension, depth == 0 {
            guard Self.isSame(head, Identity.headerExtension) else { return }
            try object.skip(22)
            return try readObjects(object, part, depth: 1, into: &track)
        }
        if Self.isSame(head, Identity.file) {
            let bytes = try object.peek(72)
            // Times in 100 ns, and the lead-in in milliseconds.
            let length = bytes.little64(40) - min(bytes.little64(56), 1 << 40) * 10_000
            track.sound.setLength(length, perSecond: 10_000_000)
        } else if Self.isSame(head, Identity.stream), !hasSound {
            let bytes = try object.peek(54 + 18)
            guard Self.isSame(bytes, Identity.sound) else { return }
            hasSound = true
            setFormat(bytes.part(54), into: &track)
        } else if Self.isSame(head, Identity.content) {
            try readContent(&object)
        } else if Self.isSame(head, Identity.extended) {
            try readItems(&object, isLibrary: false)
        } else if Self.isSame(head, Identity.library) || Self.isSame(head, Identity.metadata) {
            try readItems(&object, isLibrary: true)
        }
    }

    private func setFormat(_ bytes: ByteView, into track: inout FoundTrack) {
        let codec =
            switch bytes.little16(0) {
            case 0x160, 0x161: "WMA"
            case 0x162: "WMA Pro"
            case 0x163: "WMA Lossless"
            case 0x0A: "WMA Voice"
            case 0x55: "MP3"
            case 1: "PCM"
            default: "Windows Media"
            }
        let isWhole = codec == "WMA Lossless" || codec == "PCM"
        track.sound.setFormat(
            codec, sampleRate: bytes.little32(4), channels: bytes.little16(2),
            bitsPerSample: isWhole ? bytes.little16(14) : nil, bitRate: isWhole ? nil : bytes.little32(8) * 8)
    }

    /// Five texts; their lengths precede them.
    private mutating func readContent(_ object: inout FileStretch) throws(TrackReadingError) {
        let head = try object.peek(10)
        guard head.count == 10 else { return }
        let lengths = (0..<5).map { head.little16(2 * $0) }
        try object.skip(10)
        for (length, name) in zip(lengths, [TagName.title, .artist, .copyright, .comment]) {
            Self.forEachText(try object.peek(min(length, Self.maximumValue))) { set.add(name, $0.text) }
            try object.skip(Int64(length))
        }
    }

    /// Items with a name, a type and a value.
    private mutating func readItems(_ object: inout FileStretch, isLibrary: Bool) throws(TrackReadingError) {
        let count = min(try object.peek(2).little16(0), Self.maximumItems)
        try object.skip(2)
        for _ in 0..<count {
            let head = try object.peek(12)
            guard head.count == 12 else { return }
            let nameLength = head.little16(isLibrary ? 4 : 0)
            let name = try object.peek((isLibrary ? 12 : 2) + nameLength + 4).part(isLibrary ? 12 : 2)
            guard name.count >= nameLength else { return }
            let type = isLibrary ? head.little16(6) : name.little16(nameLength)
            let length = isLibrary ? head.little32(8) : name.little16(nameLength + 2)
            var meaning: TagMeaning?
            var title: String?
            Self.forEachText(name.part(0, nameLength)) { part in
                meaning = meaning ?? ASFNames.table.meaning(part)
                if set.keepsComments, title == nil { title = part.text }
            }
            try object.skip(Int64((isLibrary ? 12 : 6) + nameLength))
            if let meaning { try takeValue(meaning, type, object.peek(min(length, Self.maximumValue))) }
            if let title, type == 0 {
                Self.forEachText(try object.peek(min(length, Self.maximumValue))) { set.note(title, $0, meaning) }
            }
            try object.skip(Int64(length))
        }
    }

    private mutating func takeValue(_ meaning: TagMeaning, _ type: Int, _ value: ByteView) {
        switch type {
        case 0: Self.forEachText(value) { if !$0.isEmpty { set.take(meaning, $0) } }
        // Bytes: kind of the picture and a length, then the media type.
        case 1:
            guard meaning == .picture else { return }
            var picture: String?
            var isFirst = true
            Self.forEachText(value.part(5, 128)) { part in
                if isFirst { picture = PictureTypes.type(part) }
                isFirst = false
            }
            set.addPicture(type: picture)
        case 2, 3, 4, 5:
            let digits = Array(String(type == 5 ? value.little16(0) : value.little32(0)).utf8)
            digits.withUnsafeBufferPointer { set.take(meaning, ByteView($0.baseAddress, count: $0.count)) }
        default: break
        }
    }

    private static func forEachText(_ value: ByteView, _ body: (ByteView) -> Void) {
        ID3Strings.forEachLittle(value, body)
    }
}

/// Names of the tags of Windows Media, as MusicBrainz Picard documents them.
enum ASFNames {
    /// The table of names.
    static let table = NameTable(
        values.map { ($0.0.uppercased(), .value($0.1)) } + [
            ("WM/TRACKNUMBER", .number(.track)), ("WM/PARTOFSET", .number(.disc)),
            ("WM/ISCOMPILATION", .compilation), ("WM/LYRICS", .lyrics), ("WM/LYRICS_SYNCHRONISED", .lyrics),
            ("WM/ORIGINALRELEASEYEAR", .originalYear), ("WM/PICTURE", .picture),
        ] + GainName.allCases.map { ($0.rawValue, .gain($0)) })

    private static let values: [(String, TagName)] = [
        ("Title", .title), ("Author", .artist), ("Description", .comment), ("Copyright", .copyright),
        ("WM/TitleSortOrder", .titleSort), ("WM/SubTitle", .subtitle), ("WM/ARTISTS", .artists),
        ("WM/ArtistSortOrder", .artistSort), ("WM/AlbumArtist", .albumArtist),
        ("WM/AlbumArtistSortOrder", .albumArtistSort), ("WM/Composer", .composer),
        ("WM/ComposerSortOrder", .composerSort), ("WM/Writer", .lyricist), ("WM/Conductor", .conductor),
        ("WM/ModifiedBy", .remixer), ("WM/Arranger", .arranger), ("WM/Engineer", .engineer),
        ("WM/Producer", .producer), ("WM/Mixer", .mixer), ("WM/DJMixer", .djMixer), ("WM/Director", .director),
        ("WM/AlbumTitle", .album), ("WM/AlbumSortOrder", .albumSort), ("WM/SetSubTitle", .discSubtitle),
        ("WM/Publisher", .label), ("WM/CatalogNo", .catalogNumber), ("WM/Barcode", .barcode), ("ASIN", .asin),
        ("WM/Media", .media), ("WM/Year", .date), ("WM/OriginalReleaseTime", .originalDate), ("WM/Genre", .genre),
        ("WM/Mood", .mood), ("WM/Language", .language), ("WM/Script", .script), ("WM/InitialKey", .key),
        ("WM/BeatsPerMinute", .bpm), ("LICENSE", .license), ("WM/AuthorURL", .website),
        ("WM/EncodedBy", .encodedBy), ("WM/EncodingSettings", .encoderSettings), ("WM/ISRC", .isrc),
        ("WM/ContentGroupDescription", .grouping), ("WM/Work", .work),
        ("WM/OriginalArtist", .originalArtist), ("WM/OriginalAlbumTitle", .originalAlbum),
        ("MusicBrainz/Track Id", .musicBrainzTrackId), ("MusicBrainz/Album Id", .musicBrainzAlbumId),
        ("MusicBrainz/Release Track Id", .musicBrainzReleaseTrackId),
        ("MusicBrainz/Artist Id", .musicBrainzArtistId),
        ("MusicBrainz/Album Artist Id", .musicBrainzAlbumArtistId),
        ("MusicBrainz/Release Group Id", .musicBrainzReleaseGroupId), ("MusicBrainz/Work Id", .musicBrainzWorkId),
        ("MusicBrainz/Disc Id", .musicBrainzDiscId), ("MusicBrainz/Album Release Country", .releaseCountry),
        ("MusicBrainz/Album Status", .releaseStatus), ("MusicBrainz/Album Type", .releaseType),
        ("Acoustid/Id", .acoustId),
    ]
}
