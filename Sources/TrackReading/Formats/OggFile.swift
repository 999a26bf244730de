/// An Ogg file with Vorbis, Opus, FLAC or Speex: its first headers and its last page.
enum OggFile {
    private enum Coding { case vorbis, opus, flac, speex }

    private static let maximumStreams = 64
    /// Pages that are counted in a chain of streams, at most.
    private static let maximumPages = 100_000
    private static let firstTailBytes = 8 << 10

    /// The audio stream at the beginning of a file.
    private struct Stream {
        let coding: Coding
        let serial: Int
        /// Units of its page times in a second.
        let rate: Int
        /// Units before the sound.
        let preSkip: Int64
    }

    /// Reads the file from the page at `start` on; false: it has no known audio.
    static func read(
        _ window: FileWindow, at start: Int64, into track: inout FoundTrack
    ) throws(TrackReadingError) -> Bool {
        var offset = start
        var found: Stream?
        for _ in 0..<maximumStreams {
            guard let page = try OggPageHead(window, at: offset), page.flags & 2 != 0 else { break }
            if found == nil {
                found = stream(try window.bytes(at: page.bodyOffset, count: 80), page.serial, &track)
            }
            offset = page.end
        }
        guard let found else { return false }
        var packets = OggPackets(window, serial: found.serial, from: offset)
        try readComments(&packets, found.coding, into: &track)
        if found.coding == .opus { track.sound.preferR128() }
        try measure(found, window, from: offset, start: start, into: &track)
        return true
    }

    /// The stream of this first packet, and its format; nil: not a known one.
    private static func stream(_ first: ByteView, _ serial: Int, _ track: inout FoundTrack) -> Stream? {
        if first[0] == 1, first.has("vorbis", at: 1) {
            let rate = first.little32(12)
            track.sound.setFormat("Vorbis", sampleRate: rate, channels: Int(first[11]))
            return Stream(coding: .vorbis, serial: serial, rate: rate, preSkip: 0)
        }
        if first.has("OpusHead") {
            // The decoder's output is 48 kHz for any original rate.
            track.sound.setFormat("Opus", sampleRate: 48_000, channels: Int(first[9]))
            return Stream(coding: .opus, serial: serial, rate: 48_000, preSkip: Int64(first.little16(10)))
        }
        if first[0] == 0x7F, first.has("FLAC", at: 1) {
            FLACFile.takeStreamInfo(first.part(17, 34), into: &track)
            return Stream(coding: .flac, serial: serial, rate: first.big24(27) >> 4, preSkip: 0)
        }
        if first.has("Speex   ") {
            track.sound.setFormat("Speex", sampleRate: first.little32(36), channels: first.little32(48))
            return Stream(coding: .speex, serial: serial, rate: first.little32(36), preSkip: 0)
        }
        return nil
    }

    private static func readComments(
        _ packets: inout OggPackets, _ coding: Coding, into track: inout FoundTrack
    ) throws(TrackReadingError) {
        guard try packets.next() else { return }
        switch coding {
        case .vorbis: try packets.skip(7)
        case .opus: try packets.skip(8)
        case .speex: break
        case .flac:
            for _ in 0..<4096 {
                let header = try packets.peek(4)
                guard header.count == 4, header[0] != 0xFF else { return }
                let (kind, isLast) = (header[0] & 0x7F, header[0] & 0x80 != 0)
                try packets.skip(4)
                try FLACFile.take(kind, &packets, into: &track)
                guard !isLast, try packets.next() else { return }
            }
            return
        }
        try CommentBlock.read(&packets, into: &track.set)
    }

    /// Measures the length by the last page; in a chain of streams, page by page.
    private static func measure(
        _ stream: Stream, _ window: FileWindow, from headersOffset: Int64, start: Int64, into track: inout FoundTrack
    ) throws(TrackReadingError) {
        guard let last = try lastPage(window) else { return }
        if last.serial == stream.serial {
            let first = try firstTime(stream, window, from: headersOffset)
            track.sound.setLength(
                max(0, min(last.granule, 1 << 56)) - stream.preSkip - first.start, perSecond: stream.rate,
                trust: first.isSure ? .exact : .estimated)
            return
        }
        try measureChain(stream, window, from: start, into: &track)
    }

    /// The last page, of any stream, on which a packet ends.
    private static func lastPage(_ window: FileWindow) throws(TrackReadingError) -> OggPageHead? {
        for bytes in [firstTailBytes, FileWindow.bufferBytes] {
            let tail = try window.lastBytes(bytes)
            let start = window.size - Int64(tail.count)
            var index = tail.count - OggPageHead.headerBytes
            while index >= 0 {
                if tail[index] == 0x4F, tail[index + 1] == 0x67,
                    let page = OggPageHead(tail.part(index), at: start + Int64(index)), page.granule >= 0
                {
                    return page
                }
                index -= 1
            }
            if tail.count < bytes { break }
        }
        return nil
    }

    /// The start time of the sound: 0, except in recordings of live streams.
    private static func firstTime(
        _ stream: Stream, _ window: FileWindow, from offset: Int64
    ) throws(TrackReadingError) -> (start: Int64, isSure: Bool) {
        guard stream.coding == .vorbis || stream.coding == .opus else { return (0, true) }
        var offset = offset
        for _ in 0..<4 {
            guard let page = try OggPageHead(window, at: offset) else { break }
            offset = page.end
            guard page.serial == stream.serial, page.granule > 0, page.granule < 1 << 56 else { continue }
            // More than the packets on a page can last: earlier pages are missing.
            let most = Int64(page.pieceCount) * (stream.coding == .vorbis ? 8192 : 5760)
            return page.granule > most ? (page.granule - most / 8, false) : (0, true)
        }
        return (0, true)
    }

    /// Adds up the lengths of all streams of a chain.
    private static func measureChain(
        _ stream: Stream, _ window: FileWindow, from start: Int64, into track: inout FoundTrack
    ) throws(TrackReadingError) {
        var offset = start
        var total: Int64 = 0
        var end: Int64 = 0
        var preSkip: Int64 = 0
        for _ in 0..<maximumPages {
            guard let page = try OggPageHead(window, at: offset) else { break }
            offset = page.end
            if page.flags & 2 != 0 {
                total += max(0, end - preSkip)
                end = 0
                let first = try window.bytes(at: page.bodyOffset, count: 12)
                preSkip = first.has("OpusHead") ? Int64(first.little16(10)) : 0
            } else if page.granule > 0 {
                end = min(page.granule, 1 << 40)
            }
        }
        let isWhole = offset >= window.size
        track.sound.setLength(
            total + max(0, end - preSkip), perSecond: stream.rate, trust: isWhole ? .exact : .estimated)
    }
}
