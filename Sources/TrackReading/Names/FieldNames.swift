/// Names of fields in Vorbis comments and APEv2 items, and in the texts with names in ID3v2 (TXXX) and MP4 (`----`), as
/// MusicBrainz Picard documents them, with further names in use.
enum FieldNames {
    /// Vorbis comments, and all names with the same meaning in every format.
    static let comments = NameTable(common + commentsOnly)
    /// Items of APEv2.
    static let items = NameTable(common + itemsOnly)
    /// TXXX of ID3v2 and `----` of MP4.
    static let described = NameTable(meanings(identities) + common + commentsOnly)

    /// The usual name of a tag; nil: it has none.
    static func name(of tag: TagName) -> String? { names[tag] }

    private static let names = Dictionary((values + people).map { ($0.1, $0.0) }) { first, _ in first }

    private static let common = meanings(values) + meanings(people) + others

    private static let values: [(String, TagName)] = [
        ("TITLE", .title), ("TITLESORT", .titleSort), ("TITLESORTORDER", .titleSort), ("SUBTITLE", .subtitle),
        ("WORK", .work), ("MOVEMENTNAME", .movement), ("PART", .part), ("GROUPING", .grouping),
        ("CONTENTGROUP", .grouping), ("CONTENT GROUP", .grouping), ("ALBUM", .album), ("ALBUMSORT", .albumSort),
        ("ALBUMSORTORDER", .albumSort), ("DISCSUBTITLE", .discSubtitle), ("DISC SUBTITLE", .discSubtitle),
        ("SETSUBTITLE", .discSubtitle), ("LABEL", .label), ("PUBLISHER", .label), ("ORGANIZATION", .label),
        ("CATALOGNUMBER", .catalogNumber), ("CATALOG", .catalogNumber), ("LABELNO", .catalogNumber),
        ("CATALOG NUMBER", .catalogNumber), ("BARCODE", .barcode), ("UPC", .barcode), ("EAN", .barcode),
        ("EAN/UPC", .barcode), ("ASIN", .asin), ("MEDIA", .media), ("SOURCEMEDIA", .media),
        ("RELEASECOUNTRY", .releaseCountry), ("RELEASESTATUS", .releaseStatus), ("RELEASETYPE", .releaseType),
        ("MUSICBRAINZ_ALBUMSTATUS", .releaseStatus), ("MUSICBRAINZ_ALBUMTYPE", .releaseType), ("DATE", .date),
        ("ORIGINALDATE", .originalDate), ("ORIGINAL DATE", .originalDate), ("RELEASEDATE", .releaseDate),
        ("RELEASE DATE", .releaseDate), ("GENRE", .genre), ("MOOD", .mood), ("LANGUAGE", .language),
        ("SCRIPT", .script), ("KEY", .key), ("INITIALKEY", .key), ("INITIAL KEY", .key), ("BPM", .bpm),
        ("TEMPO", .bpm), ("ITUNESADVISORY", .advisory), ("COMMENT", .comment), ("DESCRIPTION", .description),
        ("COPYRIGHT", .copyright), ("LICENSE", .license), ("WEBSITE", .website), ("ENCODEDBY", .encodedBy),
        ("ENCODED BY", .encodedBy), ("ENCODED-BY", .encodedBy), ("ENCODERSETTINGS", .encoderSettings),
        ("ENCODERSETTING", .encoderSettings), ("ISRC", .isrc), ("SHOW", .show), ("PODCAST", .podcast),
        ("MUSICBRAINZ_TRACKID", .musicBrainzTrackId), ("MUSICBRAINZ_RELEASETRACKID", .musicBrainzReleaseTrackId),
        ("MUSICBRAINZ_ALBUMID", .musicBrainzAlbumId), ("MUSICBRAINZ_ARTISTID", .musicBrainzArtistId),
        ("MUSICBRAINZ_ALBUMARTISTID", .musicBrainzAlbumArtistId),
        ("MUSICBRAINZ_RELEASEGROUPID", .musicBrainzReleaseGroupId), ("MUSICBRAINZ_WORKID", .musicBrainzWorkId),
        ("MUSICBRAINZ_DISCID", .musicBrainzDiscId), ("ACOUSTID_ID", .acoustId),
    ]

    private static let people: [(String, TagName)] = [
        ("ARTIST", .artist), ("ARTISTSORT", .artistSort), ("ARTISTSORTORDER", .artistSort), ("ARTISTS", .artists),
        ("ALBUMARTIST", .albumArtist), ("ALBUM ARTIST", .albumArtist), ("ALBUM_ARTIST", .albumArtist),
        ("ALBUMARTISTSORT", .albumArtistSort), ("ALBUMARTISTSORTORDER", .albumArtistSort),
        ("ALBUMARTISTS", .albumArtists), ("ALBUM_ARTISTS", .albumArtists), ("COMPOSER", .composer),
        ("COMPOSERSORT", .composerSort), ("COMPOSERSORTORDER", .composerSort), ("LYRICIST", .lyricist),
        ("WRITER", .writer), ("ARRANGER", .arranger), ("CONDUCTOR", .conductor), ("ENSEMBLE", .ensemble),
        ("REMIXER", .remixer), ("MIXARTIST", .remixer), ("PRODUCER", .producer), ("ENGINEER", .engineer),
        ("MIXER", .mixer), ("DJMIXER", .djMixer), ("DIRECTOR", .director), ("PERFORMER", .performer),
        ("ORIGINALARTIST", .originalArtist), ("ORIGINAL ARTIST", .originalArtist),
        ("ORIGINALALBUM", .originalAlbum), ("ORIGINAL ALBUM", .originalAlbum),
    ]

    private static let others: [(String, TagMeaning)] =
        [
            ("TRACKNUMBER", .number(.track)), ("TRACK", .number(.track)), ("TRACKTOTAL", .count(.track)),
            ("TOTALTRACKS", .count(.track)), ("DISCNUMBER", .number(.disc)), ("DISC", .number(.disc)),
            ("DISCTOTAL", .count(.disc)), ("TOTALDISCS", .count(.disc)), ("MOVEMENT", .movement),
            ("MOVEMENTNUMBER", .number(.movement)), ("MOVEMENTTOTAL", .count(.movement)),
            ("MOVEMENTCOUNT", .count(.movement)), ("YEAR", .year), ("ORIGINALYEAR", .originalYear),
            ("ORIGINAL YEAR", .originalYear), ("COMPILATION", .compilation), ("ITUNESCOMPILATION", .compilation),
            ("LYRICS", .lyrics), ("UNSYNCEDLYRICS", .lyrics), ("UNSYNCED LYRICS", .lyrics),
            ("SYNCEDLYRICS", .lyrics), ("CUESHEET", .cueSheet),
        ] + GainName.allCases.map { ($0.rawValue, .gain($0)) }

    private static let commentsOnly: [(String, TagMeaning)] = [
        ("METADATA_BLOCK_PICTURE", .pictureBlock), ("COVERART", .picture),
        ("CONTACT", .value(.website)),
    ]

    private static let itemsOnly: [(String, TagMeaning)] = [
        ("ABSTRACT", .value(.description)), ("RECORD DATE", .value(.date)), ("WEBLINK", .value(.website)),
        ("DISCNAME", .value(.discSubtitle)),
    ]

    private static let identities: [(String, TagName)] = [
        ("MUSICBRAINZ TRACK ID", .musicBrainzTrackId), ("MUSICBRAINZ RELEASE TRACK ID", .musicBrainzReleaseTrackId),
        ("MUSICBRAINZ ALBUM ID", .musicBrainzAlbumId), ("MUSICBRAINZ ARTIST ID", .musicBrainzArtistId),
        ("MUSICBRAINZ ALBUM ARTIST ID", .musicBrainzAlbumArtistId),
        ("MUSICBRAINZ RELEASE GROUP ID", .musicBrainzReleaseGroupId), ("MUSICBRAINZ WORK ID", .musicBrainzWorkId),
        ("MUSICBRAINZ DISC ID", .musicBrainzDiscId), ("MUSICBRAINZ ALBUM TYPE", .releaseType),
        ("MUSICBRAINZ ALBUM STATUS", .releaseStatus), ("MUSICBRAINZ ALBUM RELEASE COUNTRY", .releaseCountry),
        ("ACOUSTID ID", .acoustId), ("PODCASTDESC", .description),
    ]

    private static func meanings(_ rows: [(String, TagName)]) -> [(String, TagMeaning)] {
        rows.map { ($0.0, .value($0.1)) }
    }
}
