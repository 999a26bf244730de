import CLinux
import Glibc
import LinuxSystem
package import NowPlaying
import Synchronization

/// A folder of pictures by their ids, of bounded size: what was not asked for the longest goes first. Every call blocks;
/// any thread.
package final class ArtworkCache: Sendable {
    /// The folder, absolute.
    package let folder: String
    /// Bytes of all pictures, at most (the one stored last may stand alone above it).
    package let limit: Int64
    private let isBusy = Mutex(())

    /// A cache in this folder, which is made when the first picture comes.
    package init(folder: String, limit: Int64) {
        self.folder = folder
        self.limit = limit
    }

    private func path(_ artwork: Artwork) -> String {
        "\(folder)/\(artwork.id).\(artwork.mediaType.split(separator: "/").last ?? "image")"
    }

    /// The path of a picture that is there; it counts as used now. Nil: it is not.
    package func path(of artwork: Artwork) -> String? {
        let path = path(artwork)
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return nil }
        utimensat(AT_FDCWD, path, nil, 0)
        return path
    }

    /// Puts a picture in and answers its path; others go, but never those of `kept`. Throws words for people.
    package func store(_ bytes: [UInt8], as artwork: Artwork, keeping kept: Set<String>) throws(ArtworkError) -> String
    {
        isBusy.withLock { _ in makeFolder() }
        let path = path(artwork)
        let new = path + ".new"
        let words = isBusy.withLock { _ -> String? in
            makeRoom(for: Int64(bytes.count), keeping: kept.union([artwork.id]))
            let file = linux_open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o640)
            guard file >= 0 else { return SystemError("write the picture \(new)").message }
            defer { close(file) }
            var done = 0
            while done < bytes.count {
                let count = bytes.withUnsafeBytes { write(file, $0.baseAddress! + done, $0.count - done) }
                guard count > 0 || errno == EINTR else { return SystemError("write the picture \(new)").message }
                done += max(0, count)
            }
            // Its name must never stand for half of it, power cut or not.
            guard fdatasync(file) == 0, rename(new, path) == 0 else {
                return SystemError("write the picture \(new)").message
            }
            return nil
        }
        if let words {
            unlink(new)
            throw ArtworkError(message: words)
        }
        return path
    }

    private func makeFolder() {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            mkdir(path, path.utf8.count == folder.utf8.count ? 0o750 : 0o755)
        }
    }

    private struct Entry {
        var path: String
        var id: String
        var bytes: Int64
        var used: Double
    }

    private func makeRoom(for bytes: Int64, keeping kept: Set<String>) {
        guard let stream = opendir(folder) else { return }
        var entries: [Entry] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            let parts = name.split(separator: ".")
            guard parts.count >= 2, parts[0].utf8.count == 32 else { continue }
            var status = stat()
            guard lstat("\(folder)/\(name)", &status) == 0 else { continue }
            let used = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
            entries.append(
                Entry(path: "\(folder)/\(name)", id: String(parts[0]), bytes: Int64(status.st_size), used: used))
        }
        closedir(stream)
        var total = entries.reduce(bytes) { $0 + $1.bytes }
        for entry in entries.sorted(by: { $0.used < $1.used }) where total > limit && !kept.contains(entry.id) {
            unlink(entry.path)
            total -= entry.bytes
        }
    }
}
