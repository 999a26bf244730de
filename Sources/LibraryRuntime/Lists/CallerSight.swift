import AudioCore
import ControlProtocol
import Glibc
import LinuxSystem
package import MediaAccess
import NowPlaying
import TrackDatabase

/// The media that one caller may name, and the library as the caller sees it. On worker threads; checks of files block.
package struct CallerSight: Sendable {
    /// The library as the caller sees it.
    package let view: LibraryView
    /// Folders below which the caller may name files; nil: anywhere.
    package let roots: MediaRoots?

    /// A sight, by its parts.
    package init(_ view: LibraryView, roots: MediaRoots?) {
        self.view = view
        self.roots = roots
    }

    /// Medium of an entry in a list.
    enum Medium: Sendable {
        /// A file by its path, or a track of a cue sheet there; with its uri.
        case file(FilePath, uri: String)
        /// An address on the network.
        case address(String)
        /// The caller may not see it.
        case hidden
        /// Nothing there is playable; the text follows the name.
        case unplayable(String)
    }

    /// The medium of a text: a uri, an absolute path, or a place in the library such as `Music/a.flac`.
    func medium(_ text: String) -> Medium {
        switch address(text) {
        case .path(let path): return file(path, uri: MediaSource.fileURI(path.normalized))
        case .track(let path, let number):
            return file(path, uri: MediaSource.fileURI(path.normalized) + "#track=\(number)")
        case .remote: return .address(text)
        case .unplayable(let words): return .unplayable(words)
        }
    }

    private func file(_ path: FilePath, uri: String) -> Medium {
        guard roots == nil || roots?.mayShow(uri) == true else { return .hidden }
        return .file(path.normalized, uri: uri)
    }

    private func address(_ text: String) -> MediaAddress {
        if !text.hasPrefix("/"), let path = view.path(of: Array(text.utf8)) { return .path(path) }
        return MediaAddress(text)
    }

    /// The medium that a request names, in the form for lists. Throws 403 or the fault of the text.
    func checked(_ text: String, parameter: String) throws(RPCError) -> Medium {
        let medium = medium(text)
        switch medium {
        case .file, .address: return medium
        case .hidden: throw Self.denied
        case .unplayable(let words):
            throw .invalidParameter(parameter, "“\(PrintableText.escaped(text, limit: 200))” \(words)")
        }
    }

    /// The refusal of a file outside of the media roots.
    static let denied = RPCError.denied("permission denied: other users can name only files below “media-roots”")

    /// True if the file system has this path and the caller may see it.
    func finds(_ path: FilePath) -> Bool {
        var status = stat()
        guard let roots else { return path.withCString { stat($0, &status) } == 0 }
        guard let found = roots.confinedPath(of: path)?.locate(), found >= 0 else { return false }
        close(found)
        return true
    }

    /// The track of the library at this path, even a missing one; nil: there is none that the caller sees.
    func track(at path: FilePath, _ reader: TrackReader) throws(TrackDatabaseError) -> StoredTrack? {
        guard let place = view.place(of: path) else { return nil }
        return try reader.track(at: TrackPath(place))
    }
}
