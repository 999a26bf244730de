import AudioCore
import AudioDecoders
import Glibc
import LinuxSystem

/// Opens files to read their facts, with the rights that were checked when they entered the queue.
enum MediaOpening {
    /// Opens the file of a source; for a part, the whole file. Blocks while the disk does. Throws every kind of
    /// `DecodingError`.
    static func open(_ source: MediaSource, _ mounts: MediaMounts) throws(DecodingError) -> MediaFile {
        switch source {
        case .plain(let packed):
            let path = packed.path
            return try onItsMount(path, mounts) { () throws(DecodingError) in try MediaFile(pathBytes: path.bytes) }
        case .confined(let position):
            return try onItsMount(position.path, mounts) { () throws(DecodingError) in
                let opened = position.openFile()
                guard opened != -EINVAL else { throw DecodingError(.unavailable, "it is not a regular file") }
                guard opened >= 0 else { throw MediaFile.openingError(-opened) }
                return try MediaFile(descriptor: opened)
            }
        case .descriptor(let descriptor, _):
            let own = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0)
            guard own >= 0 else { throw MediaFile.openingError(errno) }
            return try MediaFile(descriptor: own)
        case .segment(let segment): return try open(segment.audio, mounts)
        case .remote, .handedOver: throw DecodingError(.unavailable, "it is no file of this host")
        }
    }

    /// Opens a file by its path. A missing file on an unmounted disk counts as away.
    private static func onItsMount(
        _ path: FilePath, _ mounts: MediaMounts, _ open: () throws(DecodingError) -> MediaFile
    ) throws(DecodingError) -> MediaFile {
        do throws(DecodingError) { return try open() } catch {
            guard error.kind == .unavailable, let absence = mounts.absence(of: path) else { throw error }
            throw absence
        }
    }
}
