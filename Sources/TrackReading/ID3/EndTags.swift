/// The tags at the end of a file: ID3v1 in its last 128 bytes, APEv2 and Lyrics3 before it, ID3v2.4 with a footer.
struct EndTags {
    /// Offset of the first of these tags: the end of the possible audio.
    private(set) var audioEnd: Int64
    /// True if one of them has lyrics.
    private(set) var hasLyrics = false
    private var hasOld = false
    private var items: FileStretch?
    private var itemCount = 0
    private let window: FileWindow

    private static let tailBytes = 1 << 10
    private static let maximumItems = 512

    /// Finds the tags at the end of the file.
    init(_ window: FileWindow) throws(TrackReadingError) {
        self.window = window
        audioEnd = window.size
        let tail = try window.lastBytes(Self.tailBytes)
        if tail.count >= 128, tail.has("TAG", at: tail.count - 128) {
            hasOld = true
            audioEnd -= 128
        }
        // The tags may be in any order; there are at most three.
        for _ in 0..<3 {
            let before = audioEnd
            try step()
            if audioEnd == before { break }
        }
    }

    private mutating func step() throws(TrackReadingError) {
        guard audioEnd >= 32 else { return }
        let end = try window.bytes(at: audioEnd - 32, count: 32)
        guard end.count == 32 else { return }
        if end.has("APETAGEX") {
            let length = Int64(end.little32(12))
            let flags = end.little32(20)
            let start = audioEnd - length - (flags & 0x8000_0000 != 0 ? 32 : 0)
            // A header in place of the footer counts the bytes after it.
            guard length >= 32, flags & 0x2000_0000 == 0, start >= 0 else { return }
            if items == nil {
                items = FileStretch(window, from: audioEnd - length, to: audioEnd - 32)
                itemCount = min(end.little32(16), Self.maximumItems)
            }
            audioEnd = start
        } else if end.has("LYRICS200", at: 23) {
            let digits = end.part(17, 6)
            guard (0..<6).allSatisfy({ (0x30...0x39).contains(digits[$0]) }) else { return }
            let start = audioEnd - 15 - Int64((0..<6).reduce(0) { $0 * 10 + Int(digits[$1]) - 0x30 })
            guard try window.bytes(at: start, count: 11).has("LYRICSBEGIN") else { return }
            hasLyrics = true
            audioEnd = start
        } else if end.has("3DI", at: 22), (28..<32).allSatisfy({ end[$0] < 128 }) {
            let start = audioEnd - 20 - Int64(end.safe32(28))
            if start >= 0 { audioEnd = start }
        }
    }

    /// The items of the APE tag; empty without one.
    func apeFields() throws(TrackReadingError) -> TagSet {
        var set = TagSet(keepsComments: window.keepsComments)
        guard var source = items else { return set }
        for _ in 0..<itemCount {
            let head = try source.peek(8 + 256)
            guard head.count > 9, let zero = head.firstIndex(of: 0, from: 8) else { break }
            let size = head.little32(0)
            // Bits 1 and 2: text is 0; the others are binary or links.
            let kind = head[4] & 6
            let name = head.part(8, zero - 8)
            let meaning = FieldNames.items.meaning(name)
            let title = set.keepsComments ? name.text : nil
            let isPicture = kind == 2 && name.part(0, 9).text?.lowercased() == "cover art"
            try source.skip(Int64(zero) + 1)
            if isPicture {
                let start = try source.peek(128)
                set.addPicture(
                    type: start.firstIndex(of: 0).flatMap { PictureTypes.type(ofPicture: start.part($0 + 1)) })
            } else if kind == 0, meaning != nil || title != nil {
                try source.peek(min(size, 32 << 10)).forEachPart { part in
                    if let meaning, !part.isEmpty { set.take(meaning, part) }
                    set.note(title, part, meaning)
                }
            }
            try source.skip(Int64(size))
        }
        set.close()
        return set
    }

    /// The fields of ID3v1, with the track number that version 1.1 has in the comment; empty without a tag.
    func oldFields() throws(TrackReadingError) -> TagSet {
        var set = TagSet()
        guard hasOld else { return set }
        let tag = try window.bytes(at: window.size - 128, count: 128)
        guard tag.count == 128 else { return set }
        func add(_ meaning: TagMeaning, _ start: Int, _ count: Int) {
            let text = tag.part(start, count).untilZero
            let whole = text.count == count ? text.part(0, LegacyText.wholeCharacters(text.buffer).count) : text
            ID3Strings.latin1(whole) { if !$0.isEmpty { set.take(meaning, $0) } }
        }
        add(.value(.title), 3, 30)
        add(.value(.artist), 33, 30)
        add(.value(.album), 63, 30)
        add(.year, 93, 4)
        add(.value(.comment), 97, 30)
        if tag[125] == 0, tag[126] != 0 { set.set(.track, Int(tag[126]), of: 0) }
        if let genre = ID3Genres.name(Int(tag[127])) { set.add(.genre, genre) }
        set.close()
        return set
    }
}
