import LinuxSystem

/// A part of a file that is an item of its own: a track of a cue sheet.
package final class MediaSegment: Sendable {
    /// The audio file.
    package let audio: MediaSource
    /// Source of the cue sheet: a text file, or the audio file.
    package let sheet: MediaSource
    /// The track's number in the sheet.
    package let number: Int
    package let start: MediaTime
    /// Nil: the end of the file.
    package let end: MediaTime?

    /// A part, by its properties.
    package init(audio: MediaSource, sheet: MediaSource, number: Int, start: MediaTime, end: MediaTime?) {
        self.audio = audio
        self.sheet = sheet
        self.number = number
        self.start = start
        self.end = end
    }

    /// Uri of the part, such as `file:///music/album.cue#track=3`: the sheet and the number identify the part and its
    /// metadata.
    package var uri: String { "\(sheet.uri)#track=\(number)" }

    /// True if `other` is a part of the same file with the same rights.
    package func sharesFile(with other: MediaSegment) -> Bool {
        switch (audio, other.audio) {
        case (.plain(let mine), .plain(let path)): mine == path
        case (.confined(let mine), .confined(let other)): mine.root == other.root && mine.relative == other.relative
        case (.plain, _), (.confined, _), (.descriptor, _), (.segment, _), (.remote, _), (.handedOver, _): false
        }
    }

    /// Seconds; nil: the part ends with the file.
    package var duration: Double? { end.map { $0.seconds - start.seconds } }
}
