import ControlProtocol
import Glibc
import LinuxSystem

extension ServerReply {
    /// Maximum bytes of a text: the library ends a text after the song with which it reaches 192 KiB.
    private static let maximumText = 64 << 20

    /// The text of songs that arrived as a file in memory; nil: none arrived, or it cannot be read.
    var text: [UInt8]? {
        guard let file else { return nil }
        let size = min(max(0, Int(clamping: value["bytes"]?.integerValue ?? 0)), Self.maximumText)
        var isWhole = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            while filled < size {
                let part = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let read = pread(file.number, part.baseAddress, part.count, off_t(filled))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else {
                    isWhole = false
                    break
                }
                filled += read
            }
        }
        return isWhole ? bytes : nil
    }
}
