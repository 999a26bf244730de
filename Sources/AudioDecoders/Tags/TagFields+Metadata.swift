import AudioCore
import NowPlaying
import TrackReading

extension TagFields {
    /// Names that this project uses; it drops others.
    static let knownNames: Set<String> = [
        "TITLE", "SUBTITLE", "ARTIST", "ALBUM", "ALBUMARTIST", "ALBUM ARTIST", "COMPOSER", "GENRE", "DATE", "YEAR",
        "ISRC",
        "TRACKNUMBER", "TRACKTOTAL", "TOTALTRACKS", "DISCNUMBER", "DISCTOTAL", "TOTALDISCS", "DESCRIPTION", "COMMENT",
        "ARTISTS", "RELEASEDATE", "DAYMONTH", "LANGUAGE", "SHOW", "PODCAST",
        "ITUNESADVISORY", "WAVEFORMATEXTENSIBLE_CHANNEL_MASK", "REPLAYGAIN_TRACK_GAIN", "REPLAYGAIN_TRACK_PEAK",
        "REPLAYGAIN_ALBUM_GAIN", "REPLAYGAIN_ALBUM_PEAK", "R128_TRACK_GAIN", "R128_ALBUM_GAIN",
    ]

    /// Metadata from the tags.
    var metadata: MediaMetadata { metadata(prefersR128: false) }

    /// Metadata from the tags. `prefersR128`: the R128 tags for loudness take precedence over ReplayGain.
    func metadata(prefersR128: Bool) -> MediaMetadata {
        var result = MediaMetadata()
        result.title = first("TITLE")
        result.subtitle = first("SUBTITLE")
        result.artist = joined("ARTIST")
        // Where both are present, ARTISTS has separate values and ARTIST a text for display.
        result.artists = values["ARTISTS"] ?? values["ARTIST"] ?? []
        result.albumTitle = first("ALBUM")
        result.albumArtist = joined("ALBUMARTIST") ?? joined("ALBUM ARTIST")
        result.composer = joined("COMPOSER")
        result.genre = joined("GENRE")
        result.releaseDate =
            first("DATE").flatMap(TagNumbers.date) ?? yearAndDay ?? first("YEAR").flatMap(TagNumbers.date)
            ?? first("RELEASEDATE").flatMap(TagNumbers.date)
        result.isrc = first("ISRC")
        result.summary = first("DESCRIPTION") ?? first("COMMENT")
        let track = TagNumbers.numberAndCount(first("TRACKNUMBER"))
        result.trackNumber = track.number
        result.trackCount =
            TagNumbers.number(first("TRACKTOTAL")) ?? TagNumbers.number(first("TOTALTRACKS")) ?? track.count
        let disc = TagNumbers.numberAndCount(first("DISCNUMBER"))
        result.discNumber = disc.number
        result.discCount = TagNumbers.number(first("DISCTOTAL")) ?? TagNumbers.number(first("TOTALDISCS")) ?? disc.count
        // 1: explicit, 0: neither, 2: a cleaned version.
        if let advisory = first("ITUNESADVISORY") { result.isExplicit = advisory == "1" }
        result.show = first("SHOW") ?? (first("PODCAST") == nil ? nil : result.albumTitle)
        result.language = first("LANGUAGE")
        let chapters = chapters
        if !chapters.isEmpty { result.chapters = chapters }
        result.loudness = LoudnessTags(prefersR128: prefersR128, named: first)
        return result
    }

    /// The date from ID3v2.3, which has the year in one frame and `DDMM` in another.
    private var yearAndDay: String? {
        guard let year = first("YEAR"), year.utf8.count == 4, let day = first("DAYMONTH"), day.utf8.count == 4 else {
            return nil
        }
        return TagNumbers.date("\(year)-\(day.suffix(2))-\(day.prefix(2))")
    }

    /// Loudspeakers by WAVEFORMATEXTENSIBLE_CHANNEL_MASK (RFC 9639 §8.6.2); nil if their number is not that of the
    /// channels.
    func channelPositions(count: Int) -> [ChannelPosition]? {
        guard var digits = first("WAVEFORMATEXTENSIBLE_CHANNEL_MASK")?.lowercased()[...] else { return nil }
        if digits.hasPrefix("0x") { digits = digits.dropFirst(2) }
        guard let mask = UInt32(digits, radix: 16) else { return nil }
        let order = ChannelPosition.waveOrder
        guard mask.nonzeroBitCount == count, mask >> order.count == 0 else { return nil }
        return order.indices.filter { mask >> $0 & 1 == 1 }.map { order[$0] }
    }

    private func joined(_ name: String) -> String? { values[name].map { TagText.cut($0.joined(separator: ", ")) } }
}

extension ChannelPosition {
    /// The loudspeakers of dwChannelMask, from bit 0 on.
    static let waveOrder: [ChannelPosition] = [
        .frontLeft, .frontRight, .frontCenter, .lowFrequency, .rearLeft, .rearRight, .frontLeftOfCenter,
        .frontRightOfCenter, .rearCenter, .sideLeft, .sideRight, .topCenter, .topFrontLeft, .topFrontCenter,
        .topFrontRight, .topRearLeft, .topRearCenter, .topRearRight,
    ]
}
