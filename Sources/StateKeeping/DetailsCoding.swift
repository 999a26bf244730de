import NowPlaying
import PlaybackEngine

/// Details of an item as bytes: each field as its number and its value, 0 after the last. Numbers are never changed,
/// only added; an unknown number makes the rest unreadable.
extension ByteWriter {
    /// Writes given and found metadata, then length and format if known.
    mutating func details(_ details: ItemDetails) {
        metadata(details.given)
        detailsOfFile(details)
    }

    /// The details without the texts that a client gave.
    mutating func detailsOfFile(_ details: ItemDetails) {
        metadata(details.found)
        let bitRate = details.format?.bitRate
        let facts: [(Bool, UInt8)] = [
            (details.mediaDuration != nil, 1), (details.format != nil, 2), (bitRate != nil, 4),
            (details.hasOwnPictures, 8),
        ]
        byte(facts.reduce(0) { $1.0 ? $0 | $1.1 : $0 })
        if let duration = details.mediaDuration { double(duration) }
        guard let format = details.format else { return }
        text(format.codec)
        number(format.sampleRate)
        number(format.channels)
        number(format.bitsPerSample.map { $0 + 1 } ?? 0)
        if let bitRate { number(bitRate) }
    }

    /// Writes the fields of metadata, and 0 after them.
    mutating func metadata(_ metadata: MediaMetadata) {
        field(1, metadata.title)
        field(2, metadata.subtitle)
        field(3, metadata.artist)
        for artist in metadata.artists { field(4, artist) }
        field(5, metadata.albumTitle)
        field(6, metadata.albumArtist)
        field(7, metadata.composer)
        field(8, metadata.genre)
        field(9, metadata.trackNumber)
        field(10, metadata.trackCount)
        field(11, metadata.discNumber)
        field(12, metadata.discCount)
        field(13, metadata.releaseDate)
        field(14, metadata.isrc)
        field(15, metadata.summary)
        field(16, metadata.contentRating)
        field(17, metadata.isExplicit)
        field(18, metadata.isLiveStream)
        if let rate = metadata.defaultRate {
            byte(19)
            double(rate)
        }
        if let duration = metadata.duration {
            byte(27)
            double(duration)
        }
        field(20, metadata.artworkURL)
        field(21, metadata.show)
        field(22, metadata.language)
        field(23, metadata.mediaType?.rawValue)
        if let chapters = metadata.chapters {
            byte(24)
            number(chapters.count)
            for chapter in chapters {
                double(chapter.start)
                text(chapter.title ?? "")
            }
        }
        if let ranges = metadata.adTimeRanges {
            byte(25)
            number(ranges.count)
            for range in ranges {
                double(range.start)
                double(range.duration)
            }
        }
        if let films = metadata.animatedArtwork {
            byte(40)
            number(films.count)
            for film in films.sorted(by: { $0.key < $1.key }) {
                text(film.key)
                text(film.value)
            }
        }
        if let texts = metadata.texts {
            byte(26)
            number(texts.count)
            for localized in texts {
                text(localized.key.rawValue)
                text(localized.language)
                text(localized.value)
            }
        }
        byte(0)
    }

    private mutating func field(_ tag: UInt8, _ value: String?) {
        guard let value else { return }
        byte(tag)
        text(value)
    }

    private mutating func field(_ tag: UInt8, _ value: Int?) {
        guard let value else { return }
        byte(tag)
        signed(Int64(value))
    }

    private mutating func field(_ tag: UInt8, _ value: Bool?) {
        guard let value else { return }
        byte(tag)
        byte(value ? 1 : 0)
    }
}

extension ByteReader {
    /// Reads the bytes of `details(_:)`. Throws if they are invalid.
    mutating func details() throws(Malformed) -> ItemDetails {
        try details(given: try metadata())
    }

    /// Details with these texts of a client, from the bytes of `detailsOfFile(_:)`. Throws if they are invalid.
    mutating func details(given: MediaMetadata) throws(Malformed) -> ItemDetails {
        let found = try metadata()
        let flags = try byte()
        let duration = flags & 1 != 0 ? try double() : nil
        var format: MediaFormat?
        if flags & 2 != 0 {
            let codec = try text()
            let rate = try count()
            let channels = try count()
            let bits = try count()
            format = MediaFormat(
                codec: codec, sampleRate: rate, channels: channels, bitsPerSample: bits > 0 ? bits - 1 : nil,
                bitRate: flags & 4 != 0 ? try count() : nil)
        }
        return ItemDetails(
            given: given, found: found, duration: duration, format: format, hasOwnPictures: flags & 8 != 0)
    }

    /// Reads the bytes of `metadata(_:)`. Throws for an unknown field.
    mutating func metadata() throws(Malformed) -> MediaMetadata {
        var metadata = MediaMetadata()
        while true {
            switch try byte() {
            case 0: return metadata
            case 1: metadata.title = try text()
            case 2: metadata.subtitle = try text()
            case 3: metadata.artist = try text()
            case 4: metadata.artists.append(try text())
            case 5: metadata.albumTitle = try text()
            case 6: metadata.albumArtist = try text()
            case 7: metadata.composer = try text()
            case 8: metadata.genre = try text()
            case 9: metadata.trackNumber = try integer()
            case 10: metadata.trackCount = try integer()
            case 11: metadata.discNumber = try integer()
            case 12: metadata.discCount = try integer()
            case 13: metadata.releaseDate = try text()
            case 14: metadata.isrc = try text()
            case 15: metadata.summary = try text()
            case 16: metadata.contentRating = try text()
            case 17: metadata.isExplicit = try byte() != 0
            case 18: metadata.isLiveStream = try byte() != 0
            case 19:
                let rate = try double()
                metadata.defaultRate = RateRules.range.contains(rate) ? rate : nil
            case 27: metadata.duration = TimeLimit.bounded(try double())
            case 20: metadata.artworkURL = try text()
            case 21: metadata.show = try text()
            case 22: metadata.language = try text()
            case 23: metadata.mediaType = MediaType(rawValue: try text())
            case 24: metadata.chapters = try chapters()
            case 25: metadata.adTimeRanges = try ranges()
            case 40:
                metadata.animatedArtwork = [:]
                for _ in 0..<(try count(upTo: remaining / 2)) { metadata.animatedArtwork?[try text()] = try text() }
            case 26: metadata.texts = try texts()
            default: throw Malformed()
            }
        }
    }

    private mutating func chapters() throws(Malformed) -> [Chapter] {
        var chapters: [Chapter] = []
        for _ in 0..<(try count(upTo: remaining / 9)) {
            let start = try double()
            let title = try text()
            chapters.append(Chapter(start: start, title: title.isEmpty ? nil : title))
        }
        return chapters
    }

    private mutating func ranges() throws(Malformed) -> [AdTimeRange] {
        var ranges: [AdTimeRange] = []
        for _ in 0..<(try count(upTo: remaining / 16)) {
            let start = try double()
            ranges.append(AdTimeRange(start: start, duration: try double()))
        }
        return ranges
    }

    private mutating func texts() throws(Malformed) -> [LocalizedText] {
        var texts: [LocalizedText] = []
        for _ in 0..<(try count(upTo: remaining / 3)) {
            let key = LocalizedText.Key(rawValue: try text())
            let language = try text()
            let value = try text()
            if let key { texts.append(LocalizedText(key: key, language: language, value: value)) }
        }
        return texts
    }

    private mutating func integer() throws(Malformed) -> Int { Int(try signed()) }
}
