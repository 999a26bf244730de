import CFFmpeg

/// An input over bytes in memory.
final class MemoryInput: MediaInput {
    private let bytes: [UInt8]
    private var position = 0
    let isSeekable = true

    /// Reads these bytes from the start.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var size: Int64? { Int64(bytes.count) }

    func read(into target: UnsafeMutableRawBufferPointer) -> Int32 {
        let part = bytes.dropFirst(position).prefix(target.count)
        guard !part.isEmpty else { return ffmpeg_error_end }
        target.copyBytes(from: part)
        position += part.count
        return Int32(part.count)
    }

    func seek(to offset: Int64) { position = Int(clamping: min(offset, Int64(bytes.count))) }
}
