import ControlProtocol
import MPDProtocol
import NowPlaying

/// A song of the library.
struct LibrarySong: FilteredSong {
    /// Name of the file in bytes.
    let name: [UInt8]
    /// Seconds; nil: unknown.
    let duration: Double?
    let modified: Int64?
    let added: Int64?
    let sampleRate: Int?
    let bits: FormatTest.SampleBits?
    let channels: Int?
    /// Values of tags in the order of the library's answer.
    private let values: [(tag: MPDTag, texts: [JSONValue])]

    /// Keys of the rows for songs.
    static let fields: JSONValue = [
        "uri", "tags", "trackNumber", "discNumber", "movementNumber", "duration", "sampleRate", "bitsPerSample",
        "channels", "modified", "added",
    ]

    /// A song from its row; nil: the row has no uri.
    init?(_ row: JSONValue, _ names: SongNames) {
        guard let members = row.objectValue?.members else { return nil }
        var uri: String?
        var numbers: (duration: Double?, modified: Double?, added: Double?) = (nil, nil, nil)
        var format: (rate: Int?, bits: Int?, channels: Int?) = (nil, nil, nil)
        var values: [(tag: MPDTag, texts: [JSONValue])] = []
        for member in members {
            switch member.name {
            case "uri": uri = member.value.stringValue
            case "duration": numbers.duration = member.value.doubleValue
            case "modified": numbers.modified = member.value.doubleValue
            case "added": numbers.added = member.value.doubleValue
            case "sampleRate": format.rate = member.value.integerValue.map { Int(clamping: $0) }
            case "bitsPerSample": format.bits = member.value.integerValue.map { Int(clamping: $0) }
            case "channels": format.channels = member.value.integerValue.map { Int(clamping: $0) }
            case "tags":
                for tag in member.value.objectValue?.members ?? [] {
                    guard let known = LibraryTags.tags[tag.name], let texts = tag.value.arrayValue else { continue }
                    values.append((known, texts))
                }
            case "trackNumber", "discNumber", "movementNumber":
                guard let known = LibraryTags.tags[member.name], let number = member.value.integerValue else {
                    continue
                }
                values.append((known, [.string(String(number))]))
            case _: break
            }
        }
        guard let uri else { return nil }
        name = names.name(of: uri)
        duration = numbers.duration
        modified = numbers.modified.map { Int64(clamping: $0.rounded(.down)) }
        added = numbers.added.map { Int64(clamping: $0.rounded(.down)) }
        sampleRate = format.rate
        channels = format.channels
        bits = format.rate == nil ? nil : format.bits.map { .whole($0) } ?? .float
        self.values = values
    }

    var file: String { String(decoding: name, as: UTF8.self) }
    var priority: Int { 0 }

    func values(_ tag: MPDTag) -> [String] {
        for entry in values where entry.tag == tag { return entry.texts.compactMap(\.stringValue) }
        return []
    }

    /// Writes the whole block.
    func write(_ writer: inout AnswerWriter, _ tags: TagMask) {
        writer.pair("file", name)
        writeFacts(&writer, tags)
    }

    /// Writes the lines of the block after its name.
    func writeFacts(_ writer: inout AnswerWriter, _ tags: TagMask) {
        if let modified { writer.pair("Last-Modified", unix: modified) }
        if let added { writer.pair("Added", unix: added) }
        if let format { writer.pair("Format", format) }
        for tag in tags.tags {
            for entry in values where entry.tag == tag {
                for case .string(let text) in entry.texts { writer.pair(tag, text) }
            }
        }
        if let duration {
            writer.pair("Time", Int64(clamping: duration.rounded()))
            writer.pair("duration", seconds: duration)
        }
    }

    /// The format as `44100:16:2`; nil: unknown.
    var format: String? {
        guard let sampleRate, let channels, let bits else { return nil }
        let width =
            switch bits {
            case .whole(let count): String(count)
            case .float: "f"
            case .dsd: "dsd"
            }
        return "\(sampleRate):\(width):\(channels)"
    }
}
