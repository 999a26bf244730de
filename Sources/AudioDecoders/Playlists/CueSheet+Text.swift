import AudioCore
import NowPlaying
import TrackReading

extension CueSheet {
    /// Reads the text of a sheet, as CDRWIN defined it and later programs extended it. Skips unknown commands. Throws
    /// if it contains no track, or tracks out of order.
    package init(text content: [UInt8]) throws(PlaylistError) {
        var reader = Reader()
        for line in PlaylistText.lines(PlaylistText.normalized(content)) { reader.take(line) }
        reader.finishTrack()
        guard !reader.marks.isEmpty else { throw PlaylistError("is not a cue sheet with tracks of audio") }
        try self.init(files: reader.files, marks: reader.marks)
    }

    /// CD frames a second: the unit of its times.
    private static let framesPerSecond: Int64 = 75

    private struct Reader {
        var files: [[UInt8]] = []
        var marks: [Mark] = []
        /// Fields of the lines before the first track, for all tracks.
        private var sheet: [String: String] = [:]
        /// Fields of the present track; nil: none.
        private var track: [String: String]?
        private var number = 0
        private var isAudio = true
        /// The lowest index of the present track except 00, its file and its time.
        private var start: (index: Int, file: Int, time: MediaTime)?

        mutating func take(_ line: ArraySlice<UInt8>) {
            let word = line.prefix { !PlaylistText.isSpace($0) }
            let rest = PlaylistText.trimmed(line[word.endIndex...])
            switch String(decoding: word.prefix(16), as: UTF8.self).uppercased() {
            case "FILE": files.append(Self.fileName(rest))
            case "TRACK":
                finishTrack()
                let parts = rest.split(whereSeparator: PlaylistText.isSpace)
                number = parts.first.flatMap(Self.number) ?? 0
                isAudio = parts.count < 2 || PlaylistText.has(parts[1], prefix: "AUDIO")
                track = [:]
            case "INDEX": index(rest)
            case "REM":
                let name = rest.prefix { !PlaylistText.isSpace($0) }
                note(name, PlaylistText.trimmed(rest[name.endIndex...]), prefix: "REM ")
            case "TITLE", "PERFORMER", "SONGWRITER", "COMPOSER", "ISRC": note(word, rest, prefix: "")
            default: break
            }
        }

        private mutating func note(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, prefix: String) {
            guard name.count <= 32, let text = PlaylistText.text(Self.unquoted(value)) else { return }
            let key = prefix + String(decoding: name, as: UTF8.self).uppercased()
            if var known = track {
                known[key] = known[key] ?? text
                track = known
            } else {
                sheet[key] = sheet[key] ?? text
            }
        }

        private mutating func index(_ rest: ArraySlice<UInt8>) {
            let parts = rest.split(whereSeparator: PlaylistText.isSpace)
            guard parts.count >= 2, let index = Self.number(parts[0]), index > 0, !files.isEmpty,
                let time = Self.time(parts[1]), index < start?.index ?? .max
            else { return }
            start = (index, files.count - 1, time)
        }

        /// Ends the present track; drops a track without an index.
        mutating func finishTrack() {
            defer {
                track = nil
                start = nil
            }
            guard let track, let start else { return }
            marks.append(
                Mark(
                    number: number, file: start.file, start: start.time, isAudio: isAudio,
                    metadata: MediaMetadata(cueTrack: track, of: sheet)))
        }

        /// `"name with spaces" WAVE`, or without quotes.
        private static func fileName(_ rest: ArraySlice<UInt8>) -> [UInt8] {
            let quote = UInt8(ascii: "\"")
            if rest.first == quote, let end = rest.dropFirst().lastIndex(of: quote) {
                return Array(rest[(rest.startIndex + 1)..<end])
            }
            guard let space = rest.lastIndex(where: PlaylistText.isSpace) else { return Array(rest) }
            return Array(PlaylistText.trimmed(rest[..<space]))
        }

        private static func unquoted(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            let quote = UInt8(ascii: "\"")
            guard value.first == quote else { return value }
            let inner = value.dropFirst()
            return inner.last == quote ? inner.dropLast() : inner
        }

        private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
            guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
                return nil
            }
            return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }

        /// `mm:ss:ff`; the minutes may be any number.
        private static func time(_ text: ArraySlice<UInt8>) -> MediaTime? {
            let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map(number)
            guard parts.count == 3, let minutes = parts[0], let seconds = parts[1], let frames = parts[2], seconds < 60,
                frames < 75
            else { return nil }
            return MediaTime(Int64((minutes * 60 + seconds) * 75 + frames), perSecond: CueSheet.framesPerSecond)
        }
    }
}

extension MediaMetadata {
    /// Metadata from a sheet's fields for a track and for all of them.
    fileprivate init(cueTrack track: [String: String], of sheet: [String: String]) {
        self.init()
        title = track["TITLE"]
        artist = track["PERFORMER"] ?? sheet["PERFORMER"]
        albumTitle = sheet["TITLE"]
        albumArtist = sheet["PERFORMER"]
        composer = track["SONGWRITER"] ?? track["COMPOSER"] ?? sheet["SONGWRITER"] ?? sheet["COMPOSER"]
        isrc = track["ISRC"]
        genre = track["REM GENRE"] ?? sheet["REM GENRE"]
        releaseDate = (track["REM DATE"] ?? sheet["REM DATE"]).flatMap(TagNumbers.date)
        discNumber = TagNumbers.number(sheet["REM DISCNUMBER"])
        discCount = TagNumbers.number(sheet["REM TOTALDISCS"])
        loudness = LoudnessTags(named: { track["REM " + $0] ?? sheet["REM " + $0] })
    }
}
