import NowPlaying

/// Frames of an MPEG audio stream by their byte offsets, from its first frames and its header (Xing, Info): the target of a
/// jump, and the frame at the place where the jump landed. Exact for a constant bit rate; by the table of the header
/// otherwise, or in proportion.
package struct MPEGLayout: Equatable, Sendable {
    /// Samples of each channel in a frame.
    package let samplesPerFrame: Int64
    /// Frames a second of the decoded audio.
    package let sampleRate: Int64
    /// True if each frame has one known offset.
    package private(set) var isExact = false
    /// Samples of each channel without those that the encoder added at both ends; nil: unknown, or not of this file.
    package private(set) var itemSamples: Int64?
    /// Offset of the first frame of audio in the source.
    private let start: Int64
    /// Offset to which the table refers, and bytes from there to the end.
    private let tableStart: Int64
    private let bytes: Int64
    /// Bytes of a frame as a fraction, if they are constant.
    private var size: (bytes: Int64, frames: Int64)
    /// Frames in the stream; nil: unknown.
    private var count: Int64?
    /// Offsets at each percent of the frames, in 256ths of the bytes; empty: no table.
    private var table: [Double] = []

    package static func == (a: MPEGLayout, b: MPEGLayout) -> Bool {
        a.start == b.start && a.bytes == b.bytes && a.size == b.size && a.count == b.count && a.table == b.table
    }

    /// Reads the first frames. `first`: bytes of the source from `offset` on, which is at or before its first frame; `end`:
    /// offset after its last one. Nil: no MPEG audio of layer II or III begins there.
    package init?(_ first: [UInt8], at offset: Int64, end: Int64) {
        guard let begin = Self.sync(in: first), let header = Self.Header(first[begin...]) else { return nil }
        samplesPerFrame = header.samples
        sampleRate = header.sampleRate
        let info = Self.info(first, at: begin, header)
        let skipped = begin + (info == nil ? 0 : Int(header.length))
        start = offset + Int64(skipped)
        tableStart = offset + Int64(begin)
        bytes = info?.bytes ?? end - tableStart
        guard bytes > 0, end > start else { return nil }
        let walk = Self.walk(first, from: skipped)
        let exact = (header.samples / 8 * header.bitRate, header.sampleRate)
        // Some encoders never pad, although the bit rate needs it.
        let isUnpadded = !walk.isPadded && walk.frames * (exact.0 % exact.1) / exact.1 >= 2
        size =
            walk.isConstant ? (isUnpadded ? (walk.bytes / max(1, walk.frames), 1) : exact) : (walk.bytes, walk.frames)
        if size.bytes <= 0 || size.frames <= 0 { size = exact }
        if let info {
            count = info.frames
            table = info.isConstant ? [] : info.table
            isExact = info.isConstant && walk.isConstant
            if !info.isConstant, let frames = info.frames { size = (bytes, frames) }
            // A file that was cut or joined after the encoding has other ends.
            if info.bytes != nil, abs(end - tableStart - bytes) <= 256, let statedSamples {
                itemSamples = info.added.map { max(0, statedSamples - $0) }
            }
        } else {
            isExact = walk.isConstant && walk.frames >= 3
        }
    }

    /// Samples of each channel in the stream, as its header states them; nil: it does not.
    package var statedSamples: Int64? { count.map { $0 * samplesPerFrame } }

    /// Offset in the source of a frame, or of one near it.
    package func offset(ofFrame frame: Int64) -> Int64 {
        let frame = max(0, frame)
        if !table.isEmpty, let count, count > 0 {
            let percent = min(100, Double(frame) / Double(count) * 100)
            let index = min(99, Int(clamping: percent))
            let part = table[index] + (table[index + 1] - table[index]) * (percent - Double(index))
            return max(start, tableStart + min(bytes - 1, Int64(clamping: part / 256 * Double(bytes))))
        }
        return start + min(Self.scaled(frame, size.bytes, size.frames), bytes - 1)
    }

    /// Number of the frame that begins at an offset, or about there.
    package func frame(at offset: Int64) -> Int64 {
        guard !table.isEmpty, let count, count > 0 else {
            let place = min(max(0, offset - start), bytes)
            return Self.scaled(2 * place + size.bytes / max(1, size.frames), size.frames, 2 * size.bytes)
        }
        let part = Double(min(max(0, offset - tableStart), bytes)) / Double(bytes) * 256
        let index = min(99, max(0, (table.firstIndex { $0 > part } ?? 101) - 1))
        let width = table[index + 1] - table[index]
        let percent = Double(index) + (width > 0 ? (part - table[index]) / width : 0)
        return Int64(clamping: (min(100, percent) / 100 * Double(count)).rounded())
    }

    /// `value` · `factor` / `divisor` without overflow for offsets in files, rounded down.
    private static func scaled(_ value: Int64, _ factor: Int64, _ divisor: Int64) -> Int64 {
        guard divisor > 0, factor >= 0, value >= 0 else { return 0 }
        let (high, low) = value.multipliedFullWidth(by: factor)
        guard high >= 0, high < divisor else { return .max >> 2 }
        return divisor.dividingFullWidth((high, low)).quotient
    }

    /// Bytes of a tag ID3v2 with these first bytes (id3.org, ID3v2.4 §3.1); 0: it is none.
    package static func tagBytes(_ first: some Collection<UInt8>) -> Int64 {
        let bytes = Array(first.prefix(10))
        guard bytes.count == 10, bytes.starts(with: "ID3".utf8), bytes[6...9].allSatisfy({ $0 < 0x80 }) else {
            return 0
        }
        return bytes[6...9].reduce(0) { $0 << 7 | Int64($1) } + (bytes[5] & 0x10 == 0 ? 10 : 20)
    }

    // MARK: Frames

    /// Header of a frame (ISO 11172-3 §2.4.1.3, ISO 13818-3 §2.4.1.3).
    struct Header: Equatable {
        /// Samples of each channel.
        var samples: Int64
        /// Samples of a channel in a second.
        var sampleRate: Int64
        /// Bits a second.
        var bitRate: Int64
        /// Bytes of the frame.
        var length: Int64
        var isPadded: Bool
        /// Bytes of the side information of layer III.
        var sideBytes: Int

        private static let bitRates: [[Int64]] = [
            [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
            [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
            [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
        ]

        init?(_ bytes: ArraySlice<UInt8>) {
            let first = bytes.startIndex
            guard bytes.count >= 4, bytes[first] == 0xFF, bytes[first + 1] & 0xE0 == 0xE0 else { return nil }
            let (second, third, fourth) = (bytes[first + 1], bytes[first + 2], bytes[first + 3])
            let version = second >> 3 & 3
            let layer = 4 - Int64(second >> 1 & 3)
            let rate = Int(third >> 2 & 3)
            guard version != 1, layer == 2 || layer == 3, rate < 3, third >> 4 != 0, third >> 4 != 15 else {
                return nil
            }
            let isFirst = version == 3
            let table = isFirst ? (layer == 2 ? 0 : 1) : 2
            bitRate = Self.bitRates[table][Int(third >> 4)] * 1000
            sampleRate = [44_100, 48_000, 32_000][rate] >> (isFirst ? 0 : version == 2 ? 1 : 2)
            samples = layer == 3 && !isFirst ? 576 : 1152
            isPadded = third & 2 != 0
            length = samples / 8 * bitRate / sampleRate + (isPadded ? 1 : 0)
            let isMono = fourth >> 6 == 3
            sideBytes = isFirst ? (isMono ? 17 : 32) : (isMono ? 9 : 17)
        }

        /// True if both may belong to one stream.
        func continues(_ other: Header) -> Bool { samples == other.samples && sampleRate == other.sampleRate }
    }

    /// Index of the first of two frames that follow each other; nil: there are none.
    private static func sync(in bytes: [UInt8]) -> Int? {
        bytes.indices.first { index in
            guard bytes[index] == 0xFF, let header = Header(bytes[index...]) else { return false }
            let next = index + Int(header.length)
            return next < bytes.count && Header(bytes[next...])?.continues(header) == true
        }
    }

    /// The whole frames that follow each other from an index on.
    private static func walk(
        _ bytes: [UInt8], from index: Int
    ) -> (frames: Int64, bytes: Int64, isConstant: Bool, isPadded: Bool) {
        var result = (frames: Int64(0), bytes: Int64(0), isConstant: true, isPadded: false)
        var place = index
        var rate: Int64?
        while place < bytes.count, let header = Header(bytes[place...]) {
            result.isConstant = result.isConstant && header.bitRate == rate ?? header.bitRate
            rate = header.bitRate
            result.frames += 1
            result.bytes += header.length
            result.isPadded = result.isPadded || header.isPadded
            place += Int(header.length)
        }
        return result
    }

    /// Samples by which a decoder delays the sound.
    private static let decoderDelay: Int64 = 529

    /// The header of the whole stream in its first frame; nil: it has none.
    private static func info(
        _ bytes: [UInt8], at index: Int, _ header: Header
    ) -> (isConstant: Bool, frames: Int64?, bytes: Int64?, table: [Double], added: Int64?)? {
        var place = index + 4 + header.sideBytes
        guard place + 8 <= bytes.count else { return nil }
        let name = bytes[place..<place + 4]
        let isConstant = name.elementsEqual("Info".utf8)
        guard isConstant || name.elementsEqual("Xing".utf8) else { return nil }
        func number() -> Int64? {
            defer { place += 4 }
            guard place + 4 <= bytes.count else { return nil }
            return bytes[place..<place + 4].reduce(0) { $0 << 8 | Int64($1) }
        }
        place += 4
        let flags = number() ?? 0
        let frames = flags & 1 != 0 ? number() : nil
        let size = flags & 2 != 0 ? number() : nil
        var table: [Double] = []
        if flags & 4 != 0, place + 100 <= bytes.count {
            let entries = bytes[place..<place + 100].map { Double($0) }
            // An entry is rounded down: the mean place is half a step farther.
            table = entries.enumerated().map { $0 == 0 ? 0 : $1 + 0.5 } + [256]
            if zip(table, table.dropFirst()).contains(where: { $0 > $1 }) { table = [] }
        }
        place += (flags & 4 != 0 ? 100 : 0) + (flags & 8 != 0 ? 4 : 0)
        return (
            isConstant, frames.flatMap { $0 > 0 ? $0 : nil }, size.flatMap { $0 > 0 ? $0 : nil }, table,
            added(bytes, at: place)
        )
    }

    /// Samples of each channel before and after the sound, by LAME's part of the header; nil: there is none.
    private static func added(_ bytes: [UInt8], at place: Int) -> Int64? {
        // 9 bytes of name, revision, lowpass, 4 of peak, 2 × 2 of gain, flags, rate, 3 of delay and padding.
        guard place + 24 <= bytes.count, bytes[place] != 0 else { return nil }
        let both = bytes[place + 21..<place + 24].reduce(0) { $0 << 8 | Int64($1) }
        // A decoder delays the sound by 529 samples: that many of the padding come before its end.
        return (both >> 12) + decoderDelay + max(0, (both & 0xFFF) - decoderDelay)
    }
}
