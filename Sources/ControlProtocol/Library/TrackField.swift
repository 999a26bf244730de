/// A key of a track's row in the answers of the library.
package enum TrackField: String, CaseIterable, Sendable {
    case uri, path, title, artist, artists, album, albumArtist, trackNumber, trackCount, discNumber, discCount
    case duration, genre, composer, conductor, performer, ensemble, date, originalDate, label, grouping, mood, work
    case movement, movementNumber, movementCount, discSubtitle, location, comment
    case titleSort, artistSort, albumSort, albumArtistSort, composerSort
    case musicBrainzArtistId, musicBrainzAlbumArtistId, musicBrainzAlbumId, musicBrainzReleaseGroupId
    case musicBrainzRecordingId, musicBrainzReleaseTrackId, musicBrainzWorkId
    case tags, albumId, isCompilation, hasPicture, hasLyrics, chapterCount
    case codec, sampleRate, bitsPerSample, channels, size
    case trackGain, trackPeak, albumGain, albumPeak, loudness
    case added, modified, missing, liked, rating, playCount, skipCount, lastPlayed

    /// Default keys of a row.
    package static let usual: [TrackField] = [
        .uri, .path, .title, .artist, .album, .albumArtist, .trackNumber, .discNumber, .duration,
    ]

    /// The fields of a request, without repetitions; the default fields if the request has none.
    package static func named(_ value: JSONValue?) -> [TrackField] {
        guard let names = value?.arrayValue else { return usual }
        var seen: Set<TrackField> = []
        return names.compactMap { $0.stringValue.flatMap(TrackField.init) }.filter { seen.insert($0).inserted }
    }
}
