package import AudioCore
import Glibc

extension MediaFile {
    /// Copies up to `target.count` bytes from `offset` on and returns the count: less only at the present end of the
    /// file, or at the end of the buffered part. 0: no bytes there. Throws `.mediaGone`, or `.unavailable`, also if the
    /// disk cannot read a block.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DecodingError) -> Int {
        // Sums of an offset and a length of 32 bits stay far from overflow below this limit.
        guard !target.isEmpty, (0..<Self.largestSize).contains(offset) else { return 0 }
        if !window.contains(offset) {
            // A read as large as the window goes straight to its target.
            if target.count >= ReadWindow.byteCount {
                window.advise(from: offset, of: self)
                return try readNow(into: target, at: offset)
            }
            try window.fill(from: offset, of: self)
        }
        return window.copy(from: offset, to: target)
    }

    /// Copies bytes from `offset` on until `target` is full or the file ends. Throws as `read` does.
    func readFully(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DecodingError) -> Int {
        var done = 0
        while done < target.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: target[done...])
            let count = try read(into: rest, at: offset + Int64(done))
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Up to `count` bytes from `offset` on, as an array: for headers. Empty if `count` is 0 or negative, or `offset`
    /// lies outside the file: both may come from the media. Throws as `read` does.
    package func bytes(at offset: Int64, count: Int) throws(DecodingError) -> [UInt8] {
        guard count > 0 else { return [] }
        var result = [UInt8](repeating: 0, count: count)
        var failure: DecodingError?
        let got = result.withUnsafeMutableBytes { target in
            do throws(DecodingError) { return try readFully(into: target, at: offset) } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        result.removeLast(count - got)
        return result
    }

    /// Reads up to `target.count` bytes from the disk, past the window. Throws as `read` does.
    func readNow(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DecodingError) -> Int {
        let code: Int32
        switch attempt(into: target, at: offset) {
        case .success(let count): return count
        case .failure(let failure): code = failure.code
        }
        guard code == EIO else { throw Self.readingError(code) }
        return try readBesideBadBlock(into: target, at: offset)
    }

    /// An errno of pread(2); ECANCELED: `shouldStop` returned true.
    private struct Failure: Error {
        let code: Int32
    }

    /// One pread(2), repeated if a signal interrupts it.
    private func attempt(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Result<Int, Failure> {
        while true {
            if shouldStop() { return .failure(Failure(code: ECANCELED)) }
            let count = pread(descriptor, target.baseAddress, target.count, off_t(offset))
            if count >= 0 { return .success(count) }
            if errno != EINTR { return .failure(Failure(code: errno)) }
        }
    }

    // MARK: Bad blocks

    /// Bytes of a block: a disk that cannot read one block can read the next.
    private static let blockBytes: Int64 = 4096

    /// Reads at most to the end of the block at `offset`, after the disk reported an error for a larger read. Throws
    /// `.unavailable` if only that block cannot be read, `.mediaGone` if no block can.
    private func readBesideBadBlock(
        into target: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(DecodingError) -> Int {
        let blockEnd = (offset / Self.blockBytes + 1) * Self.blockBytes
        let part = UnsafeMutableRawBufferPointer(rebasing: target[..<min(target.count, Int(blockEnd - offset))])
        if part.count < target.count, case .success(let count) = attempt(into: part, at: offset) { return count }
        guard isReadableElsewhere(than: blockEnd - Self.blockBytes) else { throw Self.readingError(EIO) }
        // The medium may have been away for a moment only.
        switch attempt(into: part, at: offset) {
        case .success(let count): return count
        case .failure(let failure):
            throw failure.code == EIO ? Self.badBlock(at: offset) : Self.readingError(failure.code)
        }
    }

    /// True if the disk can read at least one of several sampled blocks of the file.
    var isReadable: Bool { isReadableElsewhere(than: -Self.blockBytes) }

    /// True if the disk can read a block of the file other than the one at `bad`. It drops the kernel's cache first,
    /// because cached blocks say nothing about the disk.
    private func isReadableElsewhere(than bad: Int64) -> Bool {
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        let last = max(0, size - 1) / Self.blockBytes * Self.blockBytes
        let middle = size / 2 / Self.blockBytes * Self.blockBytes
        let offsets = [bad + Self.blockBytes, 0, middle, last].filter { $0 != bad && $0 < size }
        return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { byte in
            offsets.contains { other in
                guard case .success(let count) = attempt(into: byte, at: other) else { return false }
                return count > 0
            }
        }
    }
}
