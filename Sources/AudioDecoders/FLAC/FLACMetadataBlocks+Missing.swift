import AudioCore

/// FLAC that does not begin with its marker: a recording of a running stream, or a stream after other bytes.
extension FLACMetadataBlocks {
    /// Maximum bytes of junk before the stream.
    private static let junkLimit = 64 << 10
    /// Bytes after a frame to search for the next one.
    private static let nextFrameBytes: Int64 = 256 << 10
    /// Maximum number of false frames.
    private static let maximumAttempts = 8

    /// The blocks of the stream that begins at `start` or up to 64 KiB after it, or blocks made from the headers of its
    /// frames (RFC 9639 §9.1) where it has none. Nil: there are neither blocks nor two frames in a row. Throws read
    /// errors.
    init?(searching file: MediaFile, from start: Int64) throws(DecodingError) {
        let window = try file.bytes(at: start, count: Self.junkLimit)
        let marker = Array("fLaC".utf8)
        var attempts = 0
        var index = 0
        while let found = window[index...].firstIndex(where: { $0 == 0xFF || $0 == marker[0] }) {
            index = found + 1
            // STREAMINFO follows, as the only block or the first of many.
            if found + 8 <= window.count, window[found...].starts(with: marker), window[found + 4] & 0x7F == 0,
                window[found + 7] == UInt8(FLACStreamInfo.byteCount)
            {
                self = try FLACMetadataBlocks(in: file, at: start + Int64(found))
                return
            }
            let header = window.withUnsafeBytes {
                FLACFrameHeader(UnsafeRawBufferPointer(rebasing: $0[found...]), in: nil)
            }
            guard let header, let info = FLACStreamInfo(ofStreamWith: header), attempts < Self.maximumAttempts else {
                continue
            }
            attempts += 1
            let offset = start + Int64(found)
            let search = FLACFrameSearch(file: file, info: info, audioStart: offset, audioEnd: file.size)
            let next = try search.frame(
                beginningWith: header.firstSample + Int64(header.blockFrames), from: offset + 1,
                below: offset + Self.nextFrameBytes)
            guard next != nil else { continue }
            try info.check()
            streamInfo = info
            comments = VorbisComments()
            hasCueSheet = false
            audioStart = offset
            return
        }
        return nil
    }
}
