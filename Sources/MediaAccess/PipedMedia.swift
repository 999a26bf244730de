package import AudioCore
import AudioDecoders
import CLinux
import Glibc
package import LinuxSystem

/// Data of a pipe as a file for decoding, in memory: nothing is written to a disk.
package enum PipedMedia {
    /// Maximum bytes of a pipe: three minutes of 16 bit stereo.
    static let maximumBytes = 32 << 20
    /// Milliseconds between two checks for a cancelled request, and maximum milliseconds without data.
    private static let lookMilliseconds: Int32 = 500
    private static let patienceMilliseconds: Int32 = 20_000

    /// True for a pipe.
    package static func isPipe(_ descriptor: OwnedDescriptor) -> Bool {
        var status = stat()
        return fstat(descriptor.number, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    /// Reads the pipe to its end. Returns the descriptor of a file in memory, which the caller closes. Blocks.
    package static func collect(_ pipe: OwnedDescriptor, _ abandoned: AbandonFlag) throws(DecodingError) -> Int32 {
        let file = linux_memory_file("announcement")
        guard file >= 0 else { throw DecodingError(.unavailable, "the daemon is out of file descriptors or memory") }
        do throws(DecodingError) {
            try fill(file, from: pipe.number, abandoned)
            return file
        } catch {
            close(file)
            throw error
        }
    }

    private static func fill(_ file: Int32, from pipe: Int32, _ abandoned: AbandonFlag) throws(DecodingError) {
        var block = [UInt8](repeating: 0, count: 64 << 10)
        var total = 0
        var waited: Int32 = 0
        while total < maximumBytes {
            var wait = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, lookMilliseconds)
            if abandoned.isSet { throw DecodingError(.unavailable, "the request was cancelled") }
            if ready == 0 {
                waited += lookMilliseconds
                guard waited < patienceMilliseconds else {
                    throw DecodingError(.unavailable, "no data from the pipe for 20 seconds")
                }
                continue
            }
            if ready < 0, errno != EINTR { throw DecodingError(.unavailable, "cannot read the pipe") }
            let moved = block.withUnsafeMutableBytes { read(pipe, $0.baseAddress, min($0.count, maximumBytes - total)) }
            if moved == 0 { break }
            if moved < 0 {
                guard errno == EINTR || errno == EAGAIN else {
                    throw DecodingError(.unavailable, "cannot read the pipe")
                }
                continue
            }
            guard block.withUnsafeBytes({ write(file, $0.baseAddress, moved) }) == moved else {
                throw DecodingError(.unavailable, "no memory for the data of the pipe")
            }
            total += moved
            waited = 0
        }
        guard total > 0 else { throw DecodingError(.unavailable, "the pipe was empty") }
        lseek(file, 0, SEEK_SET)
    }
}
