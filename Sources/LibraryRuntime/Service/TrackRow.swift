import ControlProtocol
import Glibc
import NowPlaying
import TrackDatabase

/// Writes the rows of tracks, each with the keys of a request.
struct TrackRow: Sendable {
    private enum Key {
        case tag(TrackTag)
        case other(TrackField)
    }

    private let view: LibraryView
    private let keys: [(name: String, key: Key)]
    /// Tags that the rows need.
    let tags: TagChoice
    /// True if the rows need the feedback or the measured loudness.
    let isWhole: Bool

    /// Rows of these fields, in this order.
    init(_ fields: [TrackField], in view: LibraryView) {
        self.view = view
        keys = fields.map { field in
            let tag = field == .title ? nil : TrackTag(name: field.rawValue)
            return (field.rawValue, tag.map { .tag($0) } ?? .other(field))
        }
        let named = fields.compactMap { $0 == .artists ? .artist : TrackTag(name: $0.rawValue) }
        isWhole = fields.contains { [.liked, .rating, .playCount, .skipCount, .lastPlayed, .loudness].contains($0) }
        tags = fields.contains(.tags) ? .all : TagChoice(named)
    }

    /// Writes a track as an object.
    func write(_ track: StoredTrack, to writer: inout JSONWriter) {
        writer.beginObject()
        members(track, to: &writer)
        writer.endObject()
    }

    /// Writes the members of a track.
    func members(_ track: StoredTrack, to writer: inout JSONWriter) {
        for (name, key) in keys {
            switch key {
            case .tag(let tag):
                guard let texts = track.record.tags[tag] else { continue }
                writer.key(any: name)
                writer.string(texts.count == 1 ? texts[0] : texts.joined(separator: ", "))
            case .other(let field): write(field, track, to: &writer)
            }
        }
    }

    /// The displayed title: the title tag, else the name of the file without its suffix.
    static func title(of track: StoredTrack) -> String {
        track.record.tags[.title].map { $0.joined(separator: ", ") } ?? track.record.path.stem
    }

    private func write(_ field: TrackField, _ track: StoredTrack, to writer: inout JSONWriter) {
        let record = track.record
        switch field {
        case .uri: writer.member("uri", view.uri(of: record.path.bytes))
        case .path: writer.member("path", String(decoding: record.path.bytes, as: UTF8.self))
        case .title: writer.member("title", Self.title(of: track))
        case .artists: texts("artists", record.tags[.artist], &writer)
        case .tags: tags(record, &writer)
        case .duration: writer.member("duration", record.duration)
        case .trackNumber: number("trackNumber", record.numbers.trackNumber, &writer)
        case .trackCount: number("trackCount", record.numbers.trackCount, &writer)
        case .discNumber: number("discNumber", record.numbers.discNumber, &writer)
        case .discCount: number("discCount", record.numbers.discCount, &writer)
        case .movementNumber: number("movementNumber", record.numbers.movementNumber, &writer)
        case .movementCount: number("movementCount", record.numbers.movementCount, &writer)
        case .chapterCount: number("chapterCount", record.numbers.chapterCount, &writer)
        case .albumId: number("albumId", track.album, &writer)
        case .isCompilation: writer.member("isCompilation", record.isCompilation)
        case .hasPicture: writer.member("hasPicture", record.hasPicture)
        case .hasLyrics: writer.member("hasLyrics", record.hasLyrics)
        case .codec: writer.member("codec", record.format.codec)
        case .sampleRate: number("sampleRate", record.format.sampleRate, &writer)
        case .bitsPerSample: number("bitsPerSample", record.format.bitsPerSample, &writer)
        case .channels: number("channels", record.format.channels, &writer)
        case .size: number("size", record.file.size, &writer)
        case .trackGain: writer.member("trackGain", record.loudness.trackGain)
        case .trackPeak: writer.member("trackPeak", record.loudness.trackPeak)
        case .albumGain: writer.member("albumGain", record.loudness.albumGain)
        case .albumPeak: writer.member("albumPeak", record.loudness.albumPeak)
        case .loudness: loudness(track, &writer)
        case .added: writer.member("added", track.added)
        case .modified: number("modified", record.file.modified / 1_000_000_000, &writer)
        case .missing: writer.member("missing", track.isMissing)
        case .liked: writer.member("liked", track.feedback.liked)
        case .rating: writer.member("rating", track.feedback.rating)
        case .playCount: number("playCount", track.feedback.playCount, &writer)
        case .skipCount: number("skipCount", track.feedback.skipCount, &writer)
        case .lastPlayed: writer.member("lastPlayed", track.feedback.lastPlayed)
        // These are tags with keys of their own.
        case .artist, .album, .albumArtist, .genre, .composer, .conductor, .performer, .ensemble, .date,
            .originalDate, .label, .grouping, .mood, .work, .movement, .discSubtitle, .location, .comment, .titleSort,
            .artistSort, .albumSort, .albumArtistSort, .composerSort, .musicBrainzArtistId, .musicBrainzAlbumArtistId,
            .musicBrainzAlbumId, .musicBrainzReleaseGroupId, .musicBrainzRecordingId, .musicBrainzReleaseTrackId,
            .musicBrainzWorkId:
            break
        }
    }

    /// The measured loudness, else that by the gains of the tags; none if neither is known.
    private func loudness(_ track: StoredTrack, _ writer: inout JSONWriter) {
        let tags = track.record.loudness
        guard track.loudness != nil || tags.trackGain != nil || tags.albumGain != nil else { return }
        writer.key("loudness")
        writer.beginObject()
        if let measured = track.loudness {
            writer.member("track", Self.rounded(measured.track))
            writer.member("album", measured.album.map(Self.rounded))
            // Silence has no peak in dB.
            writer.member("truePeak", measured.truePeak > 0 ? Self.rounded(20 * log10(measured.truePeak)) : nil)
        } else {
            writer.member("track", tags.trackGain.map { Self.rounded(LoudnessTags.reference - $0) })
            writer.member("album", tags.albumGain.map { Self.rounded(LoudnessTags.reference - $0) })
        }
        writer.member("measured", track.loudness != nil)
        writer.endObject()
    }

    /// To a hundredth, as tags have it.
    private static func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }

    private func number(_ name: StaticString, _ value: Int64?, _ writer: inout JSONWriter) {
        guard let value else { return }
        writer.key(name)
        writer.integer(value)
    }

    private func texts(_ name: StaticString, _ values: [String]?, _ writer: inout JSONWriter) {
        guard let values else { return }
        writer.key(name)
        writer.beginArray()
        for value in values { writer.string(value) }
        writer.endArray()
    }

    private func tags(_ record: TrackRecord, _ writer: inout JSONWriter) {
        writer.key("tags")
        writer.beginObject()
        for tag in TrackTag.allCases {
            guard let values = record.tags[tag] else { continue }
            writer.key(any: tag.name)
            writer.beginArray()
            for value in values { writer.string(value) }
            writer.endArray()
        }
        writer.endObject()
    }
}
