package import AudioCore
import AudioDecoders
import CLinux
import Glibc
package import LinuxSystem
package import NowPlaying
import Synchronization

/// A folder of pictures by their ids, of bounded size. It removes the least recently used pictures first, and never a
/// picture that is shown. Every call but `keep` blocks; any thread.
package final class ArtworkCache: Sendable {
    /// The folder, absolute.
    package let folder: String

    private struct State {
        /// Bytes of all pictures, at most.
        var limit: Int64
        /// Ids of pictures that are shown, by the number of their keeper.
        var kept: [Int: Set<String>] = [:]
        /// Ids of pictures that are being written, by the number of the write.
        var writing: [Int: String] = [:]
        /// Writes so far.
        var count = 0
    }

    private let state: Mutex<State>
    /// A cache in memory for pictures that the folder cannot take; nil: there is none.
    private let spare: ArtworkCache?

    /// Bytes of all pictures in a folder in memory, at most.
    private static let spareLimit: Int64 = 16 << 20

    /// A cache in this folder. The first picture creates the folder. `spare`: a folder in memory for pictures that the first
    /// one cannot take, because its disk is full or not writable; nil: there is none.
    package init(folder: String, limit: Int64, spare: String? = nil) {
        self.folder = folder
        self.spare = spare.map { ArtworkCache(folder: $0, limit: Self.spareLimit) }
        state = Mutex(State(limit: limit))
    }

    /// Bytes of all pictures, at most. The newest picture alone may exceed it.
    package var limit: Int64 { state.withLock { $0.limit } }

    /// Changes the limit, from the next picture on.
    package func setLimit(_ limit: Int64) { state.withLock { $0.limit = limit } }

    private static let all = Mutex<[String: ArtworkCache]>([:])

    /// The one cache of this process in this folder. The first call sets the limit and the folder in memory.
    package static func at(folder: String, limit: Int64, spare: String?) -> ArtworkCache {
        all.withLock { all in
            if let known = all[folder] { return known }
            let new = ArtworkCache(folder: folder, limit: limit, spare: spare)
            all[folder] = new
            return new
        }
    }

    /// Keeps the pictures with these ids for the keeper of this number, until its next call.
    package func keep(_ ids: Set<String>, for number: Int) {
        state.withLock { $0.kept[number] = ids.isEmpty ? nil : ids }
        spare?.keep(ids, for: number)
    }

    private func path(_ artwork: Artwork) -> String {
        "\(folder)/\(artwork.id).\(artwork.mediaType.split(separator: "/").last ?? "image")"
    }

    /// The path of a picture in the cache, which counts as used now; nil: the cache does not hold it.
    package func path(of artwork: Artwork) -> String? {
        let path = path(artwork)
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
            return spare?.path(of: artwork)
        }
        utimensat(AT_FDCWD, path, nil, 0)
        return path
    }

    /// Stores a picture and returns its path; removes old pictures. Throws an error in words.
    package func store(_ bytes: [UInt8], as artwork: Artwork) throws(ArtworkError) -> String {
        try store(as: artwork) { (write: ([UInt8]) throws(ArtworkError) -> Void) throws(ArtworkError) in
            try write(bytes)
        }
    }

    /// Stores a picture that arrives in pieces: `source` passes each piece to `write`. Also throws the errors of
    /// `source`, which is called again if the folder cannot take the picture and there is one in memory.
    package func store(
        as artwork: Artwork,
        from source: (_ write: ([UInt8]) throws(ArtworkError) -> Void) throws(ArtworkError) -> Void
    ) throws(ArtworkError) -> String {
        do throws(StoreFailure) { return try storeHere(as: artwork, from: source) } catch {
            switch error {
            // It would come again.
            case .source(let failure): throw failure
            case .folder(let failure):
                guard let spare else { throw failure }
                return try spare.store(as: artwork, from: source)
            }
        }
    }

    private enum StoreFailure: Error {
        /// The folder cannot take the picture.
        case folder(ArtworkError)
        case source(ArtworkError)
    }

    private func storeHere(
        as artwork: Artwork,
        from source: (_ write: ([UInt8]) throws(ArtworkError) -> Void) throws(ArtworkError) -> Void
    ) throws(StoreFailure) -> String {
        makeFolder()
        let path = path(artwork)
        let number = state.withLock { state in
            state.count += 1
            state.writing[state.count] = artwork.id
            return state.count
        }
        defer { state.withLock { $0.writing[number] = nil } }
        // This name is unique to the process and the write.
        let new = "\(path).\(getpid()).\(number)"
        do throws(StoreFailure) {
            try write(new, source)
            evict()
            guard rename(new, path) == 0 else { throw .folder(Self.failure(new)) }
        } catch {
            unlink(new)
            throw error
        }
        return path
    }

    /// Opens a file of a cache for reading only. Throws the error of the open.
    package static func open(_ path: String) throws(DecodingError) -> OwnedDescriptor {
        let file = linux_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0)
        guard file >= 0 else { throw MediaFile.openingError(errno) }
        return OwnedDescriptor(file)
    }

    private func write(
        _ path: String, _ source: (_ write: ([UInt8]) throws(ArtworkError) -> Void) throws(ArtworkError) -> Void
    ) throws(StoreFailure) {
        let file = linux_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)
        guard file >= 0 else { throw .folder(Self.failure(path)) }
        defer { close(file) }
        var isFull = false
        do throws(ArtworkError) {
            try source { (bytes: [UInt8]) throws(ArtworkError) in
                var done = 0
                while done < bytes.count {
                    let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress! + done, $0.count - done) }
                    guard count > 0 || errno == EINTR else {
                        isFull = true
                        throw Self.failure(path)
                    }
                    done += max(0, count)
                }
            }
        } catch { throw isFull ? .folder(error) : .source(error) }
        // The name must never stand for half a picture, even after a power cut.
        guard fdatasync(file) == 0 else { throw .folder(Self.failure(path)) }
    }

    private static func failure(_ path: String) -> ArtworkError {
        ArtworkError(message: SystemError("write the picture \(path)").message)
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

    /// Deletes old pictures. The folder already contains the one being written.
    private func evict() {
        let kept = state.withLock { state in
            state.kept.values.reduce(into: Set(state.writing.values)) { $0.formUnion($1) }
        }
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
        var total = entries.reduce(Int64(0)) { $0 + $1.bytes }
        for entry in entries.sorted(by: { $0.used < $1.used }) where total > limit && !kept.contains(entry.id) {
            unlink(entry.path)
            total -= entry.bytes
        }
    }
}
