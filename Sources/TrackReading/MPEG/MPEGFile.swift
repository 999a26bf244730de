import NowPlaying

/// A file of MPEG audio, layers I to III. The length comes from the encoder's header in the first frame, or from the
/// first frames.
enum MPEGFile {
    /// Maximum bytes of junk before the first frame.
    private static let junkLimit = 64 << 10
    /// Consecutive frames at the expected offsets that prove a stream.
    private static let wantedFrames = 3
    /// Frames whose bit rates are read if there is no encoder's header.
    private static let sampledFrames = 40
    /// Frames of audio that a decoder removes besides the encoder's delay.
    private static let decoderDelay: Int64 = 529

    /// Reads the frames from `start` to `end`; false: there are none. `isSure`: a tag shows that it is MPEG audio, so
    /// that a single frame suffices.
    static func read(
        _ window: FileWindow, from start: Int64, to end: Int64, isSure: Bool, into track: inout FoundTrack
    ) throws(TrackReadingError) -> Bool {
        guard let (offset, header) = try firstFrame(window, from: start, to: end, isSure: isSure) else { return false }
        let promise = try promise(window, at: offset, header)
        let length = end - offset
        let frames = Int64(header.audioFrames)
        if let promise, let count = promise.frames, count > 0 {
            var whole = Int64(count) * frames
            var trust = TrackFacts.LengthTrust.exact
            if let bytes = promise.bytes, abs(Int64(bytes) - length) > 256, bytes > 0 {
                // The file was cut or joined after the encoding.
                whole = Int64(clamping: Double(whole) / Double(bytes) * Double(length))
                trust = .estimated
            } else if let delay = promise.delay, let padding = promise.padding {
                whole = min(whole, whole - Int64(padding) + decoderDelay) - Int64(delay) - decoderDelay
            }
            track.sound.setLength(whole, perSecond: header.sampleRate, trust: trust)
            setFormat(header, bitRate: bitRate(length, whole, header), into: &track)
        } else {
            let average = try averageFrame(window, from: offset, to: end, header)
            let whole = Int64(clamping: (Double(length) / average).rounded()) * frames
            track.sound.setLength(whole, perSecond: header.sampleRate, trust: .estimated)
            setFormat(header, bitRate: header.bitRate ?? bitRate(length, whole, header), into: &track)
        }
        if let gain = promise?.trackGain, !track.set.has(.trackGain) {
            track.set.add(.trackGain, "\(Double(gain) / 10) dB")
            if let gain = promise?.albumGain { track.set.add(.albumGain, "\(Double(gain) / 10) dB") }
        }
        return true
    }

    private static func setFormat(_ header: MPEGFrameHeader, bitRate: Int?, into track: inout FoundTrack) {
        track.sound.setFormat(
            header.codec, sampleRate: header.sampleRate, channels: header.channels, bitRate: bitRate)
    }

    private static func bitRate(_ bytes: Int64, _ frames: Int64, _ header: MPEGFrameHeader) -> Int? {
        frames > 0 ? Int(clamping: Double(bytes) * 8 * Double(header.sampleRate) / Double(frames)) : nil
    }

    /// The first frame that others follow.
    private static func firstFrame(
        _ window: FileWindow, from start: Int64, to end: Int64, isSure: Bool
    ) throws(TrackReadingError) -> (Int64, MPEGFrameHeader)? {
        // The first bytes are almost always the first frame.
        if let header = try header(window, at: start), try isStream(header, window, at: start, end: end, isSure: isSure)
        {
            return (start, header)
        }
        var base = start + 1
        while base < min(end, start + Int64(junkLimit)) {
            let part = try window.bytes(at: base, count: 8 << 10)
            guard part.count > 4 else { return nil }
            var index = 0
            var candidates: [Int] = []
            while let found = part.firstIndex(of: 0xFF, from: index), found + 4 <= part.count {
                index = found + 1
                if part[found + 1] & 0xE0 == 0xE0, candidates.count < 512 { candidates.append(found) }
            }
            for found in candidates {
                let offset = base + Int64(found)
                guard let header = try header(window, at: offset) else { continue }
                if try isStream(header, window, at: offset, end: end, isSure: false) { return (offset, header) }
            }
            base += Int64(part.count - 3)
        }
        return nil
    }

    private static func header(_ window: FileWindow, at offset: Int64) throws(TrackReadingError) -> MPEGFrameHeader? {
        let bytes = try window.bytes(at: offset, count: 4)
        return bytes.count == 4 ? MPEGFrameHeader(word: UInt32(bytes.big32(0))) : nil
    }

    private static func isStream(
        _ first: MPEGFrameHeader, _ window: FileWindow, at start: Int64, end: Int64, isSure: Bool
    ) throws(TrackReadingError) -> Bool {
        guard let length = first.byteCount, length > 3 else { return isSure && first.bitRate == nil }
        var offset = start + Int64(length)
        for _ in 1..<wantedFrames {
            if offset >= end { return isSure || offset == end }
            guard let next = try header(window, at: offset), next.continues(first) else {
                return isSure && offset + 4 > end
            }
            offset += Int64(next.byteCount ?? length)
        }
        return true
    }

    /// The encoder's header in the first frame: Xing's, or Fraunhofer's.
    private static func promise(
        _ window: FileWindow, at offset: Int64, _ header: MPEGFrameHeader
    ) throws(TrackReadingError) -> Promise? {
        guard header.layer == 3 else { return nil }
        let frame = try window.bytes(at: offset, count: 256)
        if frame.has("VBRI", at: 36) {
            return Promise(
                frames: frame.big32(50), bytes: nil, delay: nil, padding: nil, trackGain: nil, albumGain: nil)
        }
        guard let xing = XingHeader(Array(frame.buffer), header: header) else { return nil }
        return Promise(
            frames: xing.frames, bytes: xing.bytes, delay: xing.delay, padding: xing.padding,
            trackGain: xing.trackGain, albumGain: xing.albumGain)
    }

    private struct Promise {
        let frames: Int?
        let bytes: Int?
        let delay: Int?
        let padding: Int?
        let trackGain: Int?
        let albumGain: Int?
    }

    /// Bytes of a frame, on average over the first ones.
    private static func averageFrame(
        _ window: FileWindow, from start: Int64, to end: Int64, _ first: MPEGFrameHeader
    ) throws(TrackReadingError) -> Double {
        var offset = start
        var count = 0
        var isSteady = true
        while count < sampledFrames, offset + 4 <= end, let next = try header(window, at: offset),
            next.continues(first),
            let length = next.byteCount, length > 3
        {
            if next.bitRate != first.bitRate { isSteady = false }
            offset += Int64(length)
            count += 1
        }
        if isSteady, let bitRate = first.bitRate {
            return max(1, Double(first.audioFrames) / 8 * Double(bitRate) / Double(first.sampleRate))
        }
        return max(1, Double(offset - start) / Double(max(1, count)))
    }
}
