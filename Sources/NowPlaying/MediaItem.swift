/// The identity of an item of the queue: never reused, even after a restart.
package struct ItemID: Hashable, Comparable, Sendable {
    /// The number on the wire, from 1, below 2³¹.
    package var number: Int64

    /// Makes the identity with this number.
    package init(_ number: Int64) { self.number = number }

    package static func < (a: Self, b: Self) -> Bool { a.number < b.number }
}

/// The format of the audio in the file, for people.
package struct MediaFormat: Equatable, Sendable {
    /// Name of the coding, in the spelling of its makers: `FLAC`, `PCM`.
    package let codec: String
    /// Frames a second, from 0 to 2^31 − 1.
    package let sampleRate: Int
    /// Number of channels, from 0 to 65,535.
    package let channels: Int
    /// Bits of a sample in the file, from 0 to 255; nil if the coding has none (lossy codings).
    package let bitsPerSample: Int?
    /// Average bits a second, from 0 to 2^53; nil: unknown or meaningless (lossless codings).
    package let bitRate: Int?

    /// A format, by its parts. A number of a file beyond these ranges becomes the nearest number in them.
    package init(codec: String, sampleRate: Int, channels: Int, bitsPerSample: Int? = nil, bitRate: Int? = nil) {
        self.codec = codec
        self.sampleRate = max(0, min(sampleRate, 0x7fff_ffff))
        self.channels = max(0, min(channels, 0xffff))
        self.bitsPerSample = bitsPerSample.map { max(0, min($0, 0xff)) }
        self.bitRate = bitRate.map { max(0, min($0, 1 << 53)) }
    }
}

/// Metadata of an item. Every text is valid UTF-8 of at most 4 KiB. Nil: unknown.
package struct MediaMetadata: Equatable, Sendable {
    package var title: String?
    package var subtitle: String?
    package var artist: String?
    package var artists: [String] = []
    package var albumTitle: String?
    package var albumArtist: String?
    package var composer: String?
    package var genre: String?
    package var trackNumber: Int?
    package var trackCount: Int?
    package var discNumber: Int?
    package var discCount: Int?
    /// Date as precise as known: `1999`, `1999-05`, `1999-05-03`.
    package var releaseDate: String?
    package var isrc: String?
    /// Text about the item (`description` on the wire).
    package var summary: String?
    package var contentRating: String?
    /// Name of the podcast or programme of the episode.
    package var show: String?
    /// Language of the speech or song, as the file names it: `deu`, `en`.
    package var language: String?
    package var isExplicit: Bool?
    package var isLiveStream: Bool?
    /// Nil: published as `audio`.
    package var mediaType: MediaType?
    /// Seconds from a client; the duration of an open file replaces it. Nil: none.
    package var duration: Double?
    /// Rate at which `play` starts this item; nil: 1.
    package var defaultRate: Double?
    package var artworkURL: String?
    /// Paths or uris of animated artwork that replaces the picture, by its shape, `1:1` or `3:4`.
    package var animatedArtwork: [String: String]?
    /// In ascending order; nil: no source has chapters.
    package var chapters: [Chapter]?
    /// In ascending order, without overlaps; nil: no source has advertisements.
    package var adTimeRanges: [AdTimeRange]?
    /// The same texts in other languages; nil: no source has them.
    package var texts: [LocalizedText]?
    /// Its loudness; nil: unknown.
    package var loudness: LoudnessTags?

    /// Metadata without any value.
    package init() {}

    /// Bytes of all its texts, plus 16 for each chapter and advertisement.
    package var textBytes: Int {
        let texts = [
            title, subtitle, artist, albumTitle, albumArtist, composer, genre, releaseDate, isrc, summary,
            contentRating, show, language, artworkURL,
        ]
        var bytes = texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        for artist in artists { bytes += artist.utf8.count }
        for (shape, film) in animatedArtwork ?? [:] { bytes += shape.utf8.count + film.utf8.count }
        for chapter in chapters ?? [] { bytes += 16 + (chapter.title?.utf8.count ?? 0) }
        bytes += 16 * (adTimeRanges?.count ?? 0)
        for text in self.texts ?? [] { bytes += text.language.utf8.count + text.value.utf8.count }
        return bytes
    }

    /// True if it names a picture or animated artwork.
    package var namesPictures: Bool { artworkURL != nil || animatedArtwork != nil }

    /// These values, with those of `other` in place of unknown ones.
    package func filled(from other: MediaMetadata) -> MediaMetadata {
        var result = self
        result.title = title ?? other.title
        result.subtitle = subtitle ?? other.subtitle
        result.artist = artist ?? other.artist
        // A client that names the artist has named all artists.
        result.artists = artists.isEmpty && artist == nil ? other.artists : artists
        result.albumTitle = albumTitle ?? other.albumTitle
        result.albumArtist = albumArtist ?? other.albumArtist
        result.composer = composer ?? other.composer
        result.genre = genre ?? other.genre
        result.trackNumber = trackNumber ?? other.trackNumber
        result.trackCount = trackCount ?? other.trackCount
        result.discNumber = discNumber ?? other.discNumber
        result.discCount = discCount ?? other.discCount
        result.releaseDate = releaseDate ?? other.releaseDate
        result.isrc = isrc ?? other.isrc
        result.summary = summary ?? other.summary
        result.contentRating = contentRating ?? other.contentRating
        result.show = show ?? other.show
        result.language = language ?? other.language
        result.isExplicit = isExplicit ?? other.isExplicit
        result.isLiveStream = isLiveStream ?? other.isLiveStream
        result.mediaType = mediaType ?? other.mediaType
        result.chapters = chapters ?? other.chapters
        result.adTimeRanges = adTimeRanges ?? other.adTimeRanges
        result.defaultRate = defaultRate ?? other.defaultRate
        result.duration = duration ?? other.duration
        result.artworkURL = artworkURL ?? other.artworkURL
        result.animatedArtwork = animatedArtwork ?? other.animatedArtwork
        result.texts = texts ?? other.texts
        result.loudness = loudness ?? other.loudness
        return result
    }
}
