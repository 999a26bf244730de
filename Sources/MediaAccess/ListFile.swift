import AudioCore
import AudioDecoders
import CLinux
import Glibc
import LinuxSystem
import Synchronization

/// Identity of a file, independent of its names.
struct FileIdentity: Hashable {
    /// Device number of the file system from stat(2).
    let device: UInt64
    let inode: UInt64

    /// Identity from stat(2).
    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

/// Remaining bytes of playlists that one request may read.
final class TextBudget: Sendable {
    /// Maximum bytes of all lists of a request.
    static let bytesOfRequest: Int64 = 16 << 20

    private let rest = Mutex(TextBudget.bytesOfRequest)

    /// Takes bytes from the budget; false: fewer are left.
    func take(_ count: Int64) -> Bool {
        rest.withLock { rest in
            guard count <= rest else { return false }
            rest -= count
            return true
        }
    }
}

/// Opens the files that a peer may open. On a worker thread; every call may block.
struct MediaDoor: Sendable {
    /// Nil: the peer may name any file.
    let roots: MediaRoots?
    let abandoned: AbandonFlag

    /// A source that can be opened later with the same rights.
    func source(_ path: FilePath) -> MediaSource {
        guard let confined = roots?.confinedPath(of: path) else { return .file(path) }
        return .confined(confined)
    }

    /// The regular file at this path, open for reading. Throws the reason if it may not or cannot be opened.
    func open(_ path: FilePath) throws(DecodingError) -> MediaFile {
        let stop: @Sendable () -> Bool = { [abandoned] in abandoned.isSet }
        guard let roots else { return try MediaFile(pathBytes: path.bytes, shouldStop: stop) }
        guard let confined = roots.confinedPath(of: path) else { throw MediaFile.openingError(EXDEV) }
        let opened = confined.openFile()
        guard opened >= 0 else { throw MediaFile.openingError(-opened) }
        return try MediaFile(descriptor: opened, shouldStop: stop)
    }

    /// Identity of the file at a path; nil: there is none that the peer may see.
    func identity(_ path: FilePath) -> FileIdentity? {
        var status = stat()
        guard let roots else {
            return path.withCString { stat($0, &status) } == 0 ? FileIdentity(status) : nil
        }
        guard let found = roots.confinedPath(of: path)?.locate(), found >= 0 else { return nil }
        defer { close(found) }
        return fstat(found, &status) == 0 ? FileIdentity(status) : nil
    }

    /// The cue sheet in a text file; nil: there is none, or it is too long.
    func sheet(at path: FilePath, _ budget: TextBudget) -> CueSheet? {
        guard let file = try? open(path), budget.take(file.size),
            let text = try? file.bytes(at: 0, count: Int(file.size))
        else { return nil }
        return try? CueSheet(text: text)
    }

    /// The cue sheet inside an audio file; nil: there is none.
    func embeddedSheet(at path: FilePath) -> CueSheet? {
        guard let dot = path.name.lastIndex(of: UInt8(ascii: ".")),
            Self.endingsWithSheets.contains(String(decoding: path.name[(dot + 1)...], as: UTF8.self).lowercased()),
            let file = try? open(path)
        else { return nil }
        return try? EmbeddedCueSheet.sheet(of: file)
    }

    /// Suffixes of files that may have a cue sheet in their tags.
    private static let endingsWithSheets: Set<String> = [
        "flac", "ogg", "oga", "opus", "ape", "wv", "mpc", "tta", "tak", "mp3",
    ]
}
