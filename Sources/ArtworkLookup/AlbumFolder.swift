import AudioCore
import Glibc
import LinuxSystem
import Synchronization

/// Names in a folder that are pictures of its music: the best still one, and for each shape of animated artwork
/// the film and its still picture.
struct AlbumFolder: Sendable {
    /// The best name of a still picture.
    var picture: FilePath?
    /// Names of films, and of still pictures that are called like them.
    var films: [AnimatedShape: FilePath] = [:]
    var stills: [AnimatedShape: FilePath] = [:]

    /// Endings of still pictures and of films, the best first.
    static let endings = ["jpg", "jpeg", "png", "webp", "avif", "gif"]
    static let filmEndings = ["mp4", "webm", "gif"]
    /// Names read from one folder, at most.
    private static let mostNames = 20_000

    /// Searches this folder for pictures and films. Blocks.
    init(_ folder: FilePath, _ rules: ArtworkSearch.Rules, _ abandoned: AbandonFlag) {
        guard let stream = folder.withCString({ opendir($0) }) else { return }
        defer { closedir(stream) }
        var count = 0
        var best = Int.max
        var bestFilms: [AnimatedShape: Int] = [:]
        var bestStills: [AnimatedShape: Int] = [:]
        while count < Self.mostNames, !abandoned.isSet, let entry = readdir(stream) {
            count += 1
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard let (stem, ending) = Self.parts(bytes), let name = FilePath(bytes) else { continue }
            let still = Self.endings.firstIndex(of: ending)
            if let rank = rules.names.firstIndex(of: stem), let still, rank * Self.endings.count + still < best {
                best = rank * Self.endings.count + still
                picture = name
            }
            guard rules.isAnimated, let shape = AnimatedShape.allCases.first(where: { rules.films[$0] == stem }) else {
                continue
            }
            if let rank = Self.filmEndings.firstIndex(of: ending) {
                if rank < bestFilms[shape] ?? .max { (bestFilms[shape], films[shape]) = (rank, name) }
            } else if let still, still < bestStills[shape] ?? .max {
                (bestStills[shape], stills[shape]) = (still, name)
            }
        }
    }

    /// The part of a name before its suffix, and the suffix, both in lower case; nil: the suffix is not that of a
    /// picture or a film.
    private static func parts(_ name: [UInt8]) -> (stem: String, ending: String)? {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), name.count - dot <= 5, dot < 256 else { return nil }
        let ending = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
        guard endings.contains(ending) || filmEndings.contains(ending) else { return nil }
        return (String(decoding: name[..<dot], as: UTF8.self).lowercased(), ending)
    }
}

/// The last folders that were searched. While a folder is unchanged, its names are not read again for each item of the
/// album.
final class AlbumFolders: Sendable {
    private struct Known {
        let path: FilePath
        let key: FileKey
        let rules: ArtworkSearch.Rules
        let folder: AlbumFolder
    }

    private let known = Mutex<[Known]>([])
    private static let remembered = 8
    /// Seconds for which a changed folder is not remembered: its modification time may not show a second change.
    private static let settled = 2

    /// Searches the folder. Blocks.
    func look(_ path: FilePath, _ rules: ArtworkSearch.Rules, _ abandoned: AbandonFlag) -> AlbumFolder {
        var status = stat()
        let isThere = path.withCString { stat($0, &status) } == 0
        let key = FileKey(status)
        if isThere, let found = known.withLock({ $0.first { $0.path == path && $0.key == key && $0.rules == rules } }) {
            return found.folder
        }
        let folder = AlbumFolder(path, rules, abandoned)
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        guard isThere, !abandoned.isSet, now.seconds(since: status.st_mtim) > Self.settled else { return folder }
        known.withLock { known in
            known.removeAll { $0.path == path }
            if known.count >= Self.remembered { known.removeFirst() }
            known.append(Known(path: path, key: key, rules: rules, folder: folder))
        }
        return folder
    }
}

/// Identity of a file or folder, and the time of its last change.
struct FileKey: Hashable {
    let device: UInt64
    let inode: UInt64
    /// Bytes.
    let size: Int64
    /// When it was changed, in seconds since 1970.
    let seconds: Int
    let nanoseconds: Int

    /// Identity from stat(2).
    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
