package import AudioCore
import LinuxSystem
package import NowPlaying

/// Rules for spoken items and their rate: a pure value.
package struct SpeechRate: Equatable, Sendable {
    /// Rate of audiobooks and podcasts.
    package var rate = 1.0
    /// Genres of audiobooks and podcasts, in lower case.
    package var genres: [String] = SpeechRate.usualGenres
    /// Folders whose items are all spoken.
    package var folders: [String] = []

    /// Genres of spoken items in common taggers.
    package static let usualGenres = [
        "audiobook", "audio book", "audiobooks", "podcast", "podcasts", "speech", "spoken word",
    ]

    /// Rules that change no rate.
    package init() {}

    /// The rate of an item without a rate from a client.
    package func rate(_ source: MediaSource, _ metadata: MediaMetadata) -> Double {
        guard rate != 1 else { return 1 }
        return isSpoken(source, metadata) ? rate : 1
    }

    /// True for an audiobook or a podcast.
    func isSpoken(_ source: MediaSource, _ metadata: MediaMetadata) -> Bool {
        ItemMatch.isIn(folders, source) || ItemMatch.has(genres, metadata.genre)
    }
}

/// Matches of items with genres and folders of the configuration.
enum ItemMatch {
    /// True if the text of a tag contains one of these genres, in lower case.
    static func has(_ genres: [String], _ text: String?) -> Bool {
        guard let text else { return false }
        return text.lowercased().split(whereSeparator: { ",;/".contains($0) }).contains { part in
            let words = part.drop { $0 == " " }
            return genres.contains { words == $0 || words.hasPrefix($0 + " ") }
        }
    }

    /// True if the source is in or below one of these folders.
    static func isIn(_ folders: [String], _ source: MediaSource) -> Bool {
        guard !folders.isEmpty else { return false }
        let uri = source.uri
        return folders.contains { folder in
            guard let path = FilePath(Array(folder.utf8)) else { return false }
            let start = MediaSource.fileURI(path)
            return uri.hasPrefix(start.hasSuffix("/") ? start : start + "/")
        }
    }
}
