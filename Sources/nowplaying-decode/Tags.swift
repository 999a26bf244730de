import CFFmpeg
import ChildDecoding

/// Fields of FFmpeg's dictionaries under the names of Vorbis comments.
enum Tags {
    private static let names = [
        "title": "TITLE", "artist": "ARTIST", "album": "ALBUM", "album_artist": "ALBUMARTIST", "composer": "COMPOSER",
        "genre": "GENRE", "date": "DATE", "year": "YEAR", "track": "TRACKNUMBER", "disc": "DISCNUMBER",
        "tracktotal": "TRACKTOTAL", "totaltracks": "TRACKTOTAL", "disctotal": "DISCTOTAL", "totaldiscs": "DISCTOTAL",
        "description": "DESCRIPTION", "comment": "COMMENT", "synopsis": "DESCRIPTION", "isrc": "ISRC", "tsrc": "ISRC",
        "rating": "ITUNESADVISORY", "subtitle": "SUBTITLE",
        "replaygain_track_gain": "REPLAYGAIN_TRACK_GAIN", "replaygain_track_peak": "REPLAYGAIN_TRACK_PEAK",
        "replaygain_album_gain": "REPLAYGAIN_ALBUM_GAIN", "replaygain_album_peak": "REPLAYGAIN_ALBUM_PEAK",
    ]

    /// The useful entries of a dictionary.
    static func read(_ dictionary: OpaquePointer?) -> [WireTag] {
        var result: [WireTag] = []
        var entry: UnsafeMutablePointer<AVDictionaryEntry>?
        while let found = av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX), result.count < 48 {
            entry = found
            guard let key = found.pointee.key, let value = found.pointee.value,
                let name = names[String(cString: key).lowercased()]
            else { continue }
            result.append(WireTag(name, String(cString: value).utf8))
        }
        return result
    }

    /// The text of one field.
    static func value(_ name: String, of dictionary: OpaquePointer?) -> String? {
        av_dict_get(dictionary, name, nil, 0).flatMap { $0.pointee.value.map { String(cString: $0) } }
    }
}
