import NowPlaying
import TrackReading

/// Fields of a file's tags, by the names of Vorbis comments in upper case: the common form into which
/// the tags of all formats are converted.
struct TagFields {
    /// Values by name, in the order of the file.
    private(set) var values: [String: [String]] = [:]

    /// Chapters from frames of ID3v2.
    private(set) var chapterFrames: [Chapter] = []
    /// Chapters from Vorbis comments.
    private var chapterComments = ChapterComments()
    /// True if one of the fields is a cue sheet.
    private(set) var hasCueSheet = false

    private static let maximumValuesPerName = 32
    /// Bytes of the longest name that the readers accept.
    static let maximumNameBytes = 48

    /// True if there are no fields.
    var isEmpty: Bool { values.isEmpty && chapters.isEmpty }

    /// The first value of this name.
    func first(_ name: String) -> String? { values[name]?.first }

    /// Adds a value, unless it is empty, the name is unknown, or the name has `maximumValuesPerName` already.
    mutating func add(_ name: String, _ text: String?) {
        guard let text, TagFields.knownNames.contains(name),
            values[name, default: []].count < Self.maximumValuesPerName
        else { return }
        values[name, default: []].append(text)
    }

    /// Takes a comment about a chapter or a cue sheet; false: it is another comment.
    mutating func takeMark(_ name: String, _ text: @autoclosure () -> String?) -> Bool {
        if name == "CUESHEET" { hasCueSheet = true }
        guard name.hasPrefix("CHAPTER") else { return false }
        return chapterComments.take(name, text())
    }

    /// Adds a chapter, unless there are `Chapter.limit` already.
    mutating func add(_ chapter: Chapter?) {
        if let chapter, chapterFrames.count < Chapter.limit { chapterFrames.append(chapter) }
    }

    /// All chapters, in order.
    var chapters: [Chapter] {
        chapterFrames.isEmpty ? chapterComments.chapters : chapterFrames.sorted { $0.start < $1.start }
    }

    /// Adds the fields of `other` whose names are missing here.
    mutating func fill(from other: TagFields) {
        values.merge(other.values) { own, _ in own }
        guard chapters.isEmpty else { return }
        chapterFrames = other.chapterFrames
        chapterComments = other.chapterComments
    }
}
