/// Kind of a file by its first bytes.
enum TrackKind {
    case flac, ogg, mpegAudio, mp4, wave, aiff, musepack, wavPack, monkeysAudio, trueAudio, dsf, adts, asf
    case au, caf, w64
    case unknown

    /// Recognises the kind by the bytes after any ID3v2 tags.
    init(_ bytes: ByteView, isAfterTag: Bool) {
        if bytes.has("fLaC") {
            self = .flac
        } else if bytes.has("OggS") {
            self = .ogg
        } else if bytes.has("ftyp", at: 4) || bytes.has("moov", at: 4) || bytes.has("mdat", at: 4) {
            self = .mp4
        } else if bytes.has("WAVE", at: 8), bytes.has("RIFF") || bytes.has("RF64") {
            self = .wave
        } else if bytes.has("FORM"), bytes.has("AIFF", at: 8) || bytes.has("AIFC", at: 8) {
            self = .aiff
        } else if bytes.has("MPCK") || bytes.has("MP+") {
            self = .musepack
        } else if bytes.has("wvpk") {
            self = .wavPack
        } else if bytes.has("MAC ") {
            self = .monkeysAudio
        } else if bytes.has("TTA1") {
            self = .trueAudio
        } else if bytes.has("DSD ") {
            self = .dsf
        } else if ASFFile.begins(bytes) {
            self = .asf
        } else if bytes.has(".snd") || bytes.has("dns.") {
            self = .au
        } else if bytes.has("caff") {
            self = .caf
        } else if bytes.has("riff"), bytes[4] == 0x2E, bytes.has("wave", at: 24) {
            self = .w64
        } else if bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0 {
            self = .adts
        } else if isAfterTag || MPEGFrameHeader(word: UInt32(bytes.big32(0))) != nil {
            self = .mpegAudio
        } else {
            self = .unknown
        }
    }
}
