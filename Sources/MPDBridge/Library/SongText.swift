import ControlProtocol
import Glibc
import LinuxSystem
import MPDProtocol

/// Blocks of songs that the library writes, passed on unchanged.
@PlayerLoop struct SongText {
    /// Lines of a song, for `library.query`. The first is the line of its name.
    let lines: JSONValue
    /// Writes the lines of some songs.
    let write: @PlayerLoop ([UInt8], inout AnswerWriter) -> Void

    /// Whole blocks with these tags; nil: names alone.
    init(
        tags: TagMask?, _ names: SongNames,
        _ write: @escaping @PlayerLoop ([UInt8], inout AnswerWriter) -> Void = { $1.append($0) }
    ) {
        self.write = write
        var found: [JSONValue] = [Self.line("file", names.onlyFolder == nil ? "path" : "pathBelow")]
        if let tags {
            found += [
                Self.line("Last-Modified", "modified"), Self.line("Added", "added"), Self.line("Format", "format"),
            ]
            found += tags.tags.compactMap { tag in
                (LibraryTags.name(tag) ?? LibraryTags.number(tag)).map { Self.line(tag.rawValue, $0) }
            }
            found += [Self.line("Time", "seconds"), Self.line("duration", "duration")]
        }
        lines = .array(found)
    }

    /// Lines of a song after the line of its name, for `library.get`, with these tags.
    static func facts(_ tags: TagMask, _ names: SongNames) -> JSONValue {
        .array(Array((SongText(tags: tags, names).lines.arrayValue ?? []).dropFirst()))
    }

    private static func line(_ key: String, _ field: String) -> JSONValue {
        ["key": .string(key), "field": .string(field)]
    }
}

/// The library's lines of songs, without the lines of the names, by uri.
struct WrittenSongs {
    private var lines: [String: ArraySlice<UInt8>] = [:]

    /// No songs.
    init() {}

    /// The lines of a song; nil: the library does not know the song.
    subscript(uri: String) -> ArraySlice<UInt8>? { lines[uri] }

    /// Takes the answer to a request for these files. Returns the number of files that the answer covers; nil: it is invalid.
    mutating func take(_ reply: ServerReply, of files: ArraySlice<String>) -> Int? {
        guard let text = reply.text, let ends = reply.value["ends"]?.arrayValue, ends.count <= files.count else {
            return nil
        }
        var begin = 0
        for (file, end) in zip(files, ends) {
            let end = Int(clamping: end.integerValue ?? -1)
            guard end >= begin, end <= text.count else { return nil }
            if end > begin { lines[file] = text[begin..<end] }
            begin = end
        }
        return ends.count
    }
}

/// The songs in lines: each begins with the line of its name.
struct SongLines: Sequence, IteratorProtocol {
    /// A song: the index of its first line, and its name.
    struct Song {
        /// Index of its first byte.
        let start: Int
        /// The bytes of its name.
        let name: ArraySlice<UInt8>
    }

    private let bytes: [UInt8]
    /// Index of the first line of the next song; nil: no song remains.
    private var start: Int?

    private static let key = Array("file: ".utf8)

    /// The songs of whole lines.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        start = bytes.starts(with: Self.key) ? 0 : nil
    }

    mutating func next() -> Song? {
        guard let start else { return nil }
        let name = start + Self.key.count
        let (end, following) = bytes.withUnsafeBytes { bytes in
            let end = Self.end(ofLine: name, in: bytes)
            var line = end + 1
            while line < bytes.count, !Self.isName(line, in: bytes) { line = Self.end(ofLine: line, in: bytes) + 1 }
            return (end, line)
        }
        self.start = following < bytes.count ? following : nil
        return Song(start: start, name: bytes[name..<end])
    }

    /// Index of the next line end.
    private static func end(ofLine start: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        guard let base = bytes.baseAddress, start < bytes.count,
            let found = memchr(base + start, 0x0A, bytes.count - start)
        else { return bytes.count }
        return base.distance(to: UnsafeRawPointer(found))
    }

    private static func isName(_ line: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress, bytes.count - line >= key.count else { return false }
        return memcmp(base + line, key, key.count) == 0
    }
}
