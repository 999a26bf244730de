import AudioCore

/// Frames between a decoder and a rate changer; it allocates memory at the first use. Used on the decode thread alone.
final class RateScratch {
    /// Bytes that are decoded in one piece for a rate changer.
    private static let size = 16 << 10
    private var bytes: UnsafeMutableRawBufferPointer?

    deinit { bytes?.deallocate() }

    /// Calls `fill` with a buffer for whole frames of `bytesPerFrame`.
    func withRoom<Result>(
        bytesPerFrame: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(DecodingError) -> Result
    ) throws(DecodingError) -> Result {
        let bytes = self.bytes ?? .allocate(byteCount: Self.size, alignment: 16)
        self.bytes = bytes
        let whole = bytes.count / bytesPerFrame * bytesPerFrame
        return try fill(UnsafeMutableRawBufferPointer(rebasing: bytes[..<whole]))
    }
}
