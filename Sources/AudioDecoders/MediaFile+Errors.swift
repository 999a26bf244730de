package import AudioCore
import Glibc

extension MediaFile {
    /// Error for a file that cannot be opened, by errno of open(2) or fstat(2).
    package static func openingError(_ code: Int32) -> DecodingError {
        switch code {
        case ENOENT: DecodingError(.unavailable, "there is no such file")
        case EACCES, EPERM:
            DecodingError(
                .unavailable, "no permission to read it: its mode and those of the folders above must allow it")
        case ELOOP: DecodingError(.unavailable, "its path contains a loop of symbolic links")
        case EXDEV: DecodingError(.unavailable, "its path leads out of its allowed folder")
        case ENOTDIR: DecodingError(.unavailable, "a part of its path is not a folder")
        case ENAMETOOLONG: DecodingError(.unavailable, "its name is too long")
        case EMFILE, ENFILE:
            DecodingError(.unavailable, "too many open files: raise the limit (ulimit -n)")
        case EBADF: DecodingError(.unavailable, "the descriptor handed over is not open")
        default: goneError(code) ?? DecodingError(.unavailable, "cannot open it: \(words(code))")
        }
    }

    /// Error for a failed read, by errno of pread(2); ECANCELED: `shouldStop` returned true.
    static func readingError(_ code: Int32) -> DecodingError {
        if code == ECANCELED { return DecodingError(.unavailable, "the read was cancelled") }
        return goneError(code) ?? DecodingError(.unavailable, "cannot read it: \(words(code))")
    }

    /// Error for a block that the disk cannot read while it reads other blocks. `offset`: the byte in the file.
    static func badBlock(at offset: Int64) -> DecodingError {
        DecodingError(
            .unavailable,
            "the disk can't read the file at byte \(offset), but reads other parts of it: the disk is damaged there. "
                + "Restore the file from a copy and check the disk")
    }

    /// The error, if this errno means that the medium itself is gone.
    private static func goneError(_ code: Int32) -> DecodingError? {
        switch code {
        case EIO: DecodingError(.mediaGone, "its disk or network reports an input/output error")
        case ESTALE: DecodingError(.mediaGone, "the file server no longer has it")
        case ENODEV, ENXIO: DecodingError(.mediaGone, "the device it is on was removed")
        case ENOTCONN, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH, ECONNRESET, EREMOTEIO:
            DecodingError(.mediaGone, "the file server it is on is not connected")
        default: nil
        }
    }

    private static func words(_ code: Int32) -> String {
        guard let text = strerror(code) else { return "error \(code)" }
        return String(cString: text)
    }
}
