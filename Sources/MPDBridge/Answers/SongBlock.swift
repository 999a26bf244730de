import ControlProtocol
import MPDProtocol
import NowPlaying

/// A song of the queue in the form for MPD's clients.
struct SongBlock: Sendable {
    /// Fields of an item that a block needs.
    static let fields: [JSONValue] = [
        "id", "uri", "title", "artist", "albumTitle", "albumArtist", "composer", "genre", "trackNumber", "discNumber",
        "releaseDate", "duration", "isLiveStream", "show", "format", "priority",
    ]

    /// Fields that a block needs besides the lines of the library.
    static let brief: [JSONValue] = ["id", "uri", "priority"]

    /// The daemon's item.
    let item: JSONValue
    /// The same song in the library; nil: the library does not have it.
    var song: LibrarySong?
    /// Index in the queue; nil: the song has none.
    let index: Int?
    /// Name of the file, or an address.
    let file: [UInt8]
    /// Lines after the line of the name, from the library; nil: the block makes them.
    var lines: ArraySlice<UInt8>?

    /// Writes the lines of the block with these tags.
    func write(_ writer: inout AnswerWriter, _ tags: TagMask) {
        writeFacts(&writer, tags)
        if let index { writer.pair("Pos", index) }
        writeNumbers(&writer)
    }

    /// Writes the lines before the line of the place.
    func writeFacts(_ writer: inout AnswerWriter, _ tags: TagMask) {
        writer.pair("file", file)
        if let lines { return writer.append(lines) }
        if let song { return song.writeFacts(&writer, tags) }
        if let format = Self.format(item) { writer.pair("Format", format) }
        for tag in MPDTag.allCases where tags.contains(tag) {
            for value in values(tag) { writer.pair(tag, value) }
        }
        if let duration {
            writer.pair("Time", Int64(clamping: duration.rounded()))
            writer.pair("duration", seconds: duration)
        }
    }

    /// Writes the lines after the line of the place.
    func writeNumbers(_ writer: inout AnswerWriter) {
        if let id = item["id"]?.integerValue { writer.pair("Id", id) }
        if let priority, priority > 0 { writer.pair("Prio", priority) }
    }

    /// True if only changes of the queue and the library change the lines. The lines of a station change by themselves.
    var isLasting: Bool { song != nil || lines != nil || item["uri"]?.stringValue?.hasPrefix("file://") == true }

    /// Seconds; nil: unknown or without end.
    var duration: Double? { item["duration"]?.doubleValue }

    private var priority: Int? { item["priority"]?.integerValue.map { Int(clamping: $0) } }

    /// Values of a tag.
    func values(_ tag: MPDTag) -> [String] {
        let value: String? =
            switch tag {
            case .artist: item["artist"]?.stringValue
            case .album: item["albumTitle"]?.stringValue
            case .albumArtist: item["albumArtist"]?.stringValue
            case .title: item["title"]?.stringValue
            case .track: item["trackNumber"]?.integerValue.map { String($0) }
            case .disc: item["discNumber"]?.integerValue.map { String($0) }
            case .genre: item["genre"]?.stringValue
            case .composer: item["composer"]?.stringValue
            case .date: item["releaseDate"]?.stringValue
            case .name: item["isLiveStream"]?.boolValue == true ? item["show"]?.stringValue : nil
            case .artistSort, .albumSort, .albumArtistSort, .titleSort, .mood, .originalDate, .composerSort, .performer,
                .conductor, .work, .movement, .movementNumber, .showMovement, .ensemble, .location, .grouping, .comment,
                .discSubtitle, .label, .musicBrainzArtistId, .musicBrainzAlbumId, .musicBrainzAlbumArtistId,
                .musicBrainzTrackId, .musicBrainzReleaseTrackId, .musicBrainzWorkId, .musicBrainzReleaseGroupId:
                nil
            }
        return value.map { [$0] } ?? []
    }

    /// The format of an item as `44100:16:2`; lossy sound has the bits of the decoder's samples. Nil: unknown.
    static func format(_ item: JSONValue) -> String? {
        guard let format = item["format"], let rate = format["sampleRate"]?.integerValue,
            let channels = format["channels"]?.integerValue
        else { return nil }
        let bits = format["bitsPerSample"]?.integerValue.map { String($0) } ?? "f"
        return "\(rate):\(bits):\(channels)"
    }
}
