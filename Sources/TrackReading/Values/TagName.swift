/// The tags of a track in all formats. Raw values are the names in the protocol.
package enum TagName: String, CaseIterable, Sendable {
    // Names of the track.
    case title, titleSort, subtitle, work, movement, part, grouping
    // People. If a file has both, `artist` is the display text and `artists` the list of names; the same for albums.
    case artist, artistSort, artists, albumArtist, albumArtistSort, albumArtists
    case composer, composerSort, lyricist, writer, arranger, conductor, ensemble, remixer
    case producer, engineer, mixer, djMixer, director
    /// A name, with the instrument or role in parentheses if the file has one: `Ann Lee (piano)`.
    case performer
    case originalArtist, originalAlbum
    // The album.
    case album, albumSort, discSubtitle, label, catalogNumber, barcode, asin, media
    case releaseCountry, releaseStatus, releaseType
    // Times in the form of the file: `1999`, `1999-05-03`, or any other text.
    case date, originalDate, releaseDate
    // Kinds.
    case genre, mood, language, script, key, bpm, advisory
    // Texts about the track.
    case comment, description, copyright, license, website, encodedBy, encoderSettings
    case isrc, show, podcast
    // Identities.
    case musicBrainzTrackId, musicBrainzReleaseTrackId, musicBrainzAlbumId, musicBrainzArtistId
    case musicBrainzAlbumArtistId, musicBrainzReleaseGroupId, musicBrainzWorkId, musicBrainzDiscId
    case acoustId
}

/// A number of a track among others, with its total.
package enum TagNumber: CaseIterable, Sendable { case track, disc, movement }
