import AudioCore
import Glibc

/// Input of the Ogg libraries: the file without headers of more than 256 KiB. The libraries would keep the headers with
/// their pictures while the file is open; `OggHeaders` reads their useful parts.
final class OggSource {
    let file: MediaFile
    /// Offset of the libraries' next read.
    private var position: Int64 = 0
    /// Error of a failed read, since the last `forgetFailure`. No more is read until then.
    private(set) var failure: DecodingError?

    private let start: Int64
    /// Offset of the end in the file.
    let end: Int64
    /// Bytes of the file from `start` on, before the part that is left out.
    private let headLength: Int64
    /// Bytes in place of that part.
    private let replacement: [UInt8]
    /// Offset at which the file continues.
    private let tailStart: Int64

    /// Headers up to this size are read as they are.
    fileprivate static let largeHeaders: Int64 = 256 << 10
    /// Largest setup header, in bytes, that is kept for the libraries.
    private static let largestSetup: Int64 = 1 << 20

    /// The Ogg stream in these bytes of the file. Throws `.broken` if its headers are larger than the libraries may
    /// keep and cannot be replaced, or a read error.
    init(file: MediaFile, _ bytes: Range<Int64>, headers: OggHeaders) throws(DecodingError) {
        self.file = file
        start = bytes.lowerBound
        end = bytes.upperBound
        let headersEnd = min(headers.end ?? end, end)
        guard headersEnd - headers.firstPagesEnd > Self.largeHeaders else {
            headLength = Int64(bytes.count)
            replacement = []
            tailStart = end
            return
        }
        guard headers.end == headersEnd else {
            throw DecodingError(.broken, "its headers are damaged or longer than 256 MiB")
        }
        guard let packets = try Self.smallPackets(headers, in: file) else {
            throw DecodingError(.broken, "its setup header has more than \(Self.largestSetup >> 20) MiB")
        }
        headLength = headers.firstPagesEnd - start
        tailStart = headersEnd
        // The page numbers continue without a gap; else the libraries would take pages for lost.
        replacement = OggPage.pages(
            packets, serial: headers.serial, sequence: headers.firstSequence, count: headers.pageCount)
    }

    /// The packets of headers, with no comments in them.
    private static func smallPackets(_ headers: OggHeaders, in file: MediaFile) throws(DecodingError) -> [[UInt8]]? {
        switch headers.coding {
        case .opus: return [Array("OpusTags".utf8) + [UInt8](repeating: 0, count: 8)]
        case .flac: return [[0x84, 0, 0, 8] + [UInt8](repeating: 0, count: 8)]
        case .vorbis:
            guard let setup = headers.packets.last, setup.length <= largestSetup else { return nil }
            return [
                [3] + Array("vorbis".utf8) + [UInt8](repeating: 0, count: 8) + [1],
                try setup.bytes(in: file, at: 0, count: Int(setup.length)),
            ]
        }
    }

    /// Bytes of the stream as the libraries see it.
    var size: Int64 { headLength + Int64(replacement.count) + end - tailStart }

    /// Offset of the next read.
    var readOffset: Int64 { position }

    /// Seeks as lseek does; false: no such offset.
    func seek(_ offset: Int64, _ whence: Int32) -> Bool {
        let base: Int64
        switch whence {
        case SEEK_CUR: base = position
        case SEEK_END: base = size
        default: base = 0
        }
        let (sum, overflow) = base.addingReportingOverflow(offset)
        if overflow || !(0...MediaFile.largestSize).contains(sum) { return false }
        position = sum
        return true
    }

    /// Allows reads again after a failed one.
    func forgetFailure() { failure = nil }

    /// Reads up to `target.count` bytes; 0: the end; nil: it failed, see `failure`.
    func read(into target: UnsafeMutableRawBufferPointer) -> Int? {
        if failure != nil { return nil }
        if target.isEmpty { return 0 }
        do throws(DecodingError) {
            let count: Int
            if position < headLength {
                let part = min(Int64(target.count), headLength - position)
                count = try file.readFully(into: .init(rebasing: target[..<Int(part)]), at: start + position)
            } else if position < headLength + Int64(replacement.count) {
                let from = Int(position - headLength)
                count = min(target.count, replacement.count - from)
                target.copyBytes(from: replacement[from..<from + count])
            } else {
                let byteOffset = tailStart + position - headLength - Int64(replacement.count)
                let part = min(Int64(target.count), max(0, end - byteOffset))
                count = try file.readFully(into: .init(rebasing: target[..<Int(part)]), at: byteOffset)
            }
            position += Int64(count)
            return count
        } catch {
            failure = error
            return nil
        }
    }
}

extension OggHeaders {
    /// True if the headers are larger than a library may keep, in a link that ends at `end`. Headers without an end
    /// extend to `end`.
    func areLarge(before end: Int64) -> Bool { (self.end ?? end) - firstPagesEnd > OggSource.largeHeaders }
}
