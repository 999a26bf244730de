import AudioCore

/// Frames between a decoder and a rate changer; takes no memory until the first of them. Used on the decode thread alone.
final class RateScratch {
    /// Bytes that are decoded at once for a rate changer.
    private static let size = 16 << 10
    private var bytes: UnsafeMutableRawBufferPointer?

    deinit { bytes?.deallocate() }

    /// Calls `fill` with room for whole frames of so many bytes each.
    func withRoom<Result>(
        bytesPerFrame: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(DecodingError) -> Result
    ) throws(DecodingError) -> Result {
        let bytes = self.bytes ?? .allocate(byteCount: Self.size, alignment: 16)
        self.bytes = bytes
        let whole = bytes.count / bytesPerFrame * bytesPerFrame
        return try fill(UnsafeMutableRawBufferPointer(rebasing: bytes[..<whole]))
    }
}
