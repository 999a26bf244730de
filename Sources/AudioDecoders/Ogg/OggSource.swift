import AudioCore
import Glibc

/// Input of the Ogg libraries: the file without headers of more than 256 KiB. The libraries would keep
/// them, pictures and all, as long as the file is open; `OggHeaders` reads their useful parts.
final class OggSource {
    let file: MediaFile
    /// Offset of the libraries' next read.
    private var position: Int64 = 0
    /// Why reading failed; since it was set to nil.
    var failure: DecodingError?

    private let start: Int64
    /// End in the file.
    let end: Int64
    /// Bytes of the file from `start` on, before what is left out.
    private let headLength: Int64
    /// Its replacement.
    private let replacement: [UInt8]
    /// Offset at which the file continues.
    private let tailStart: Int64

    /// Headers up to this size are read as they are.
    fileprivate static let largeHeaders: Int64 = 256 << 10
    /// The libraries' limit of a setup header that is kept.
    private static let largestSetup: Int64 = 1 << 20

    /// The Ogg stream in these bytes of the file. Throws `.broken` where its headers are larger than the libraries may keep
    /// and can't be made small, or what reading throws.
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
        // Numbers of pages continue as they were, or the libraries would think that some were lost.
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

    /// Bytes that there are.
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
    /// True if they are larger than a library may keep, in a link that ends at `end`. Headers without an end are.
    func areLarge(before end: Int64) -> Bool { (self.end ?? end) - firstPagesEnd > OggSource.largeHeaders }
}
