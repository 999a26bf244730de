import CFFmpeg
import ChildDecoding
import Glibc

/// The file from the daemon, read by pread(2): its file position is neither used nor moved.
final class FileInput: MediaInput {
    private let descriptor: Int32
    private var position: Int64 = 0
    let size: Int64?
    let isSeekable = true

    /// Bytes of the file from the daemon. The first access must come before the confinement: the library uses a system
    /// call that also takes paths.
    static let handedOverSize: Int64? = {
        var status = stat()
        return fstat(DaemonChannel.fileDescriptor, &status) == 0 ? Int64(status.st_size) : nil
    }()

    /// Takes the file from the daemon.
    init() {
        descriptor = DaemonChannel.fileDescriptor
        size = Self.handedOverSize
    }

    func read(into target: UnsafeMutableRawBufferPointer) -> Int32 {
        while true {
            let count = pread(descriptor, target.baseAddress, target.count, off_t(position))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? ffmpeg_error_end : ffmpeg_error_io }
            position += Int64(count)
            return Int32(count)
        }
    }

    func seek(to offset: Int64) { position = offset }
}
