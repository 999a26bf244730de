import NowPlaying

/// Formats with all facts of the sound in a header, and with tags at the end: Musepack, WavPack, Monkey's Audio, True
/// Audio, DSF and AAC in ADTS.
enum PackedFiles {
    /// Musepack of stream versions 7 and 8.
    static func readMusepack(
        _ window: FileWindow, at start: Int64, into track: inout FoundTrack
    ) throws(TrackReadingError) -> Bool {
        let head = try window.bytes(at: start, count: 64)
        let rates = [44_100, 48_000, 37_800, 32_000]
        if head.has("MP+"), head[3] & 15 == 7 {
            let rate = rates[Int(head[10] & 3)]
            track.sound.setFormat("Musepack", sampleRate: rate, channels: 2)
            let isGapless = head[23] & 0x80 != 0
            let last = isGapless ? Int64((head.little32(20) >> 20) & 0x7FF) : 1152
            track.sound.setLength(max(0, Int64(head.little32(4)) - 1) * 1152 + last, perSecond: rate)
            takeMusepackGains(head.part(12, 8), isOld: true, into: &track)
            return true
        }
        guard head.has("MPCK") else { return false }
        var offset = start + 4
        for _ in 0..<32 {
            let packet = try window.bytes(at: offset, count: 64)
            var index = 2
            let size = variableNumber(packet, &index)
            guard packet.count > 4, size > 2 else { break }
            if packet.has("SH") {
                index += 5
                let count = variableNumber(packet, &index)
                let silence = variableNumber(packet, &index)
                let rate = rates[Int(packet[index] >> 5 & 3)]
                track.sound.setFormat("Musepack", sampleRate: rate, channels: Int(packet[index + 1] >> 4) + 1)
                track.sound.setLength(count - silence, perSecond: rate)
            } else if packet.has("RG") {
                takeMusepackGains(packet.part(index + 1, 8), isOld: false, into: &track)
            } else if packet.has("AP") || packet.has("SE") {
                break
            }
            offset += size
        }
        return true
    }

    /// Gains and peaks of the header, which apply if no tag has any.
    private static func takeMusepackGains(_ bytes: ByteView, isOld: Bool, into track: inout FoundTrack) {
        func gain(_ index: Int) -> Double? {
            let raw = isOld ? bytes.little16(index + 2) : bytes.big16(index)
            guard raw != 0 else { return nil }
            return isOld ? Double(Int16(truncatingIfNeeded: raw)) / 100 : 64.82 - Double(raw) / 256
        }
        if let gain = gain(0), !track.set.has(.trackGain) { track.set.add(.trackGain, "\(gain) dB") }
        if let gain = gain(4), !track.set.has(.albumGain) { track.set.add(.albumGain, "\(gain) dB") }
    }

    /// A number with seven bits a byte; it ends at a byte without the top bit.
    private static func variableNumber(_ bytes: ByteView, _ index: inout Int) -> Int64 {
        var result: Int64 = 0
        for _ in 0..<8 {
            let byte = bytes[index]
            index += 1
            result = result << 7 | Int64(byte & 0x7F)
            if byte & 0x80 == 0 { break }
        }
        return result
    }

    /// WavPack: the header of its first block.
    static func readWavPack(_ block: ByteView, into track: inout FoundTrack) -> Bool {
        guard block.count >= 32 else { return false }
        let flags = block.little32(24)
        let rates = [
            6000, 8000, 9600, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000,
            192_000,
        ]
        let index = flags >> 23 & 15
        let rate = index < rates.count ? rates[index] : 0
        let isDSD = flags & 0x8000_0000 != 0
        let bits = ((flags & 3) + 1) * 8 - (flags >> 13 & 31)
        track.sound.setFormat(
            isDSD ? "DSD" : "WavPack", sampleRate: rate, channels: flags & 4 != 0 ? 1 : 2, bitsPerSample: bits)
        let low = block.little32(12)
        if low != 0xFFFF_FFFF {
            track.sound.setLength(Int64(block[11]) << 32 | Int64(low), perSecond: rate)
        }
        return true
    }

    /// Monkey's Audio from version 3.98 on has a descriptor before its header; older ones have the header alone.
    static func readMonkeysAudio(
        _ window: FileWindow, at start: Int64, into track: inout FoundTrack
    ) throws(TrackReadingError) -> Bool {
        let head = try window.bytes(at: start, count: 76)
        guard head.count >= 32 else { return false }
        let version = head.little16(4)
        if version >= 3980 {
            let length = Int64(head.little32(8))
            let header = try window.bytes(at: start + length, count: 24)
            guard header.count == 24 else { return false }
            let rate = header.little32(20)
            setMonkeysAudio(
                rate, header.little16(18), header.little16(16), header.little32(12), header.little32(4),
                header.little32(8), into: &track)
            return true
        }
        let blocks = version >= 3950 ? 73_728 * 4 : version >= 3900 ? 73_728 : 9216
        let flags = head.little16(8)
        setMonkeysAudio(
            head.little32(12), head.little16(10), flags & 1 != 0 ? 8 : flags & 8 != 0 ? 24 : 16, head.little32(24),
            blocks, head.little32(28), into: &track)
        return true
    }

    private static func setMonkeysAudio(
        _ rate: Int, _ channels: Int, _ bits: Int, _ frames: Int, _ blocks: Int, _ last: Int,
        into track: inout FoundTrack
    ) {
        track.sound.setFormat("Monkey's Audio", sampleRate: rate, channels: channels, bitsPerSample: bits)
        if frames > 0 {
            track.sound.setLength(min(Int64(frames - 1) * Int64(blocks), 1 << 50) + Int64(last), perSecond: rate)
        }
    }

    /// True Audio.
    static func readTrueAudio(_ head: ByteView, into track: inout FoundTrack) -> Bool {
        guard head.count >= 18 else { return false }
        let rate = head.little32(10)
        track.sound.setFormat(
            "True Audio", sampleRate: rate, channels: head.little16(6), bitsPerSample: head.little16(8))
        track.sound.setLength(Int64(head.little32(14)), perSecond: rate)
        return true
    }

    /// DSF: the length of the sound, and the offset of the ID3 tag.
    static func readDSF(
        _ window: FileWindow, at start: Int64, into track: inout FoundTrack
    ) throws(TrackReadingError) -> Bool {
        let head = try window.bytes(at: start, count: 28 + 52)
        guard head.count >= 80, head.has("fmt ", at: 28) else { return false }
        let rate = head.little32(56)
        let tagOffset = head.little64(20)
        track.sound.setFormat("DSD", sampleRate: rate, channels: head.little32(52), bitsPerSample: 1)
        track.sound.setLength(head.little64(64), perSecond: rate)
        if tagOffset > 0, let tag = try ID3Tag(window, at: start + tagOffset) { track.set = tag.set }
        return true
    }

    /// AAC in ADTS: estimates the length from the first frames.
    static func readADTS(
        _ window: FileWindow, from start: Int64, to end: Int64, into track: inout FoundTrack
    ) throws(TrackReadingError) -> Bool {
        let rates = [
            96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350,
        ]
        var offset = start
        var count = 0
        var rate = 0
        while count < 64, offset + 7 <= end {
            let head = try window.bytes(at: offset, count: 7)
            let length = head.big24(3) >> 5 & 0x1FFF
            let index = Int(head[2] >> 2 & 15)
            guard head[0] == 0xFF, head[1] & 0xF6 == 0xF0, index < rates.count, length >= 7 else { break }
            if count == 0 {
                rate = rates[index]
                let layout = Int(head[2] & 1) << 2 | Int(head[3] >> 6)
                track.sound.setFormat("AAC", sampleRate: rate, channels: layout == 7 ? 8 : layout)
            }
            offset += Int64(length)
            count += 1
        }
        guard count > 1 || count == 1 && offset >= end else { return false }
        let isWhole = offset >= end
        let frames = isWhole ? Double(count) : Double(end - start) * Double(count) / Double(offset - start)
        track.sound.setLength(Int64(clamping: frames * 1024), perSecond: rate, trust: isWhole ? .exact : .estimated)
        return true
    }
}
