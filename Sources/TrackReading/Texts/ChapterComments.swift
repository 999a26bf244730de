package import NowPlaying

/// Chapters in Vorbis comments (https://wiki.xiph.org/Chapter_Extension): `CHAPTER001=00:01:30.500` and
/// `CHAPTER001NAME=Title`.
package struct ChapterComments {
    private struct Mark {
        var start: Double?
        var title: String?
    }

    private var marks: [Int: Mark] = [:]

    /// No chapters.
    package init() {}

    /// The chapters that have a time, in the order of their times.
    package var chapters: [Chapter] {
        marks.sorted { $0.key < $1.key }.compactMap { _, mark in
            mark.start.map { Chapter(start: $0, title: mark.title) }
        }.sorted { $0.start < $1.start }
    }

    /// Reads a comment; false: it is not about a chapter.
    package mutating func take(_ name: String, _ text: String?) -> Bool {
        guard name.hasPrefix("CHAPTER") else { return false }
        let rest = name.dropFirst("CHAPTER".count)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard digits.count == 3, let number = Int(digits), marks[number] != nil || marks.count < Chapter.limit else {
            return false
        }
        switch rest.dropFirst(3) {
        case "": marks[number, default: Mark()].start = text.flatMap(Self.seconds)
        case "NAME": marks[number, default: Mark()].title = text
        default: return false
        }
        return true
    }

    /// `HH:MM:SS.mmm` in seconds; nil: it has another form.
    private static func seconds(_ text: String) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hours = Int(parts[0]), let minutes = Int(parts[1]), let seconds = Double(parts[2]),
            (0..<10_000).contains(hours), (0..<60).contains(minutes), (0..<60).contains(seconds)
        else { return nil }
        return Double(hours * 3600 + minutes * 60) + seconds
    }
}
