import NowPlaying
import TrackReading

/// XSPF, version 0 and 1 (xspf.org/spec): `<playlist>` of a `<trackList>` of `<track>`s with a `<location>`, a uri.
enum XSPFList {
    /// The entries. Throws if the document is not XSPF.
    static func entries(_ content: [UInt8]) throws(PlaylistError) -> [PlaylistEntry] {
        let document = Document()
        try XMLReader.read(content, document)
        guard document.isPlaylist else { throw PlaylistError("is XML, but not an XSPF list") }
        return document.entries
    }

    private final class Document: XMLHandler {
        private(set) var isPlaylist = false
        private(set) var entries: [PlaylistEntry] = []
        private var path: [String] = []
        private var entry = PlaylistEntry(location: [], isReference: true)
        private var content: [UInt8] = []

        func begin(_ name: String) {
            path.append(name)
            if path.count == 1 { isPlaylist = name == "playlist" }
            if isInTrackList, path.count == 3 { entry = PlaylistEntry(location: [], isReference: true) }
            content = []
        }

        func text(_ bytes: UnsafeBufferPointer<UInt8>) {
            if isInTrackList, path.count == 4 { content += bytes }
        }

        func end() {
            defer { path.removeLast() }
            guard isInTrackList else { return }
            if path.count == 3, !entry.location.isEmpty { entries.append(entry) }
            if path.count == 4 { take(path[3], PlaylistText.trimmed(content.filter { $0 >= 0x20 }[...])) }
        }

        private var isInTrackList: Bool {
            path.count >= 3 && path[0] == "playlist" && path[1] == "trackList" && path[2] == "track"
        }

        private func take(_ name: String, _ value: ArraySlice<UInt8>) {
            switch name {
            // Further locations of a track are alternatives; the first one counts.
            case "location": if entry.location.isEmpty { entry.location = Array(value) }
            case "title": entry.metadata.title = PlaylistText.text(value)
            case "creator": entry.metadata.artist = PlaylistText.text(value)
            case "album": entry.metadata.albumTitle = PlaylistText.text(value)
            case "annotation": entry.metadata.summary = PlaylistText.text(value)
            case "trackNum": entry.metadata.trackNumber = TagNumbers.number(PlaylistText.text(value))
            case "duration": entry.duration = PlaylistText.seconds(value).map { $0 / 1000 }
            default: break
            }
        }
    }
}
