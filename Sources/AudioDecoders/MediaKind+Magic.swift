/// Signatures of the formats that this process does not decode itself.
extension MediaKind {
    /// Bytes at an offset that identify a format.
    private typealias Mark = (bytes: [UInt8], offset: Int, name: String)
    /// The same as ASCII.
    private typealias TextMark = (text: String, offset: Int, name: String)

    /// Name of a format that nowplaying-decode decodes; nil: none is recognised.
    static func nameForChild(_ file: [UInt8]) -> String? {
        name(file, textsForChild) ?? marksForChild.first { file.dropFirst($0.offset).starts(with: $0.bytes) }?.name
            ?? streamName(file)
    }

    /// Name of a format that no program of this project decodes; nil: none is recognised.
    static func unsupportedName(_ file: [UInt8]) -> String? { name(file, unsupportedTexts) }

    private static func name(_ file: [UInt8], _ marks: [TextMark]) -> String? {
        marks.first { file.dropFirst($0.offset).starts(with: $0.text.utf8) }?.name
    }

    private static let textsForChild: [TextMark] = [
        ("ftyp", 4, "MP4 (AAC, ALAC)"), ("moov", 4, "QuickTime"), ("mdat", 4, "QuickTime"), ("wide", 4, "QuickTime"),
        ("wvpk", 0, "WavPack"), ("MAC ", 0, "Monkey's Audio"), ("MPCK", 0, "Musepack"), ("MP+", 0, "Musepack"),
        ("TTA1", 0, "True Audio"), ("DSD ", 0, "DSD"), ("FRM8", 0, "DSD"), ("1bit", 0, "DSD"), ("tBaK", 0, "TAK"),
        ("ajkg", 0, "Shorten"), ("#!AMR", 0, "AMR"), ("Creative Voice File\u{1A}", 0, "VOC"),
        ("FLV\u{1}", 0, "Flash video"), ("AVI ", 8, "AVI"), ("DTSHDHDR", 0, "DTS"), (".RMF", 0, "RealMedia"),
        ("XWMA", 8, "xWMA"), ("QLCM", 8, "QCP"), ("8SVX", 8, "IFF 8SVX"), ("16SV", 8, "IFF 8SVX"),
        ("MAUD", 8, "IFF MAUD"), ("NIST_1A\n", 0, "NIST Sphere"), ("PVF1\n", 0, "PVF"), ("2BIT", 0, "AVR"),
        ("FSSD", 65, "HCOM"), (".SoX", 0, "SoX"), ("XoS.", 0, "SoX"), (" paf", 0, "PAF"), ("fap ", 0, "PAF"),
        ("ALawSoundFile**", 0, "Psion WVE"), ("TWIN9", 0, "VQF"), ("ea3\u{3}", 0, "OpenMG"), ("EA3", 0, "OpenMG"),
        ("#!iLBC", 0, "iLBC"), ("HCA\0", 0, "HCA"), ("RSTM", 0, "BRSTM"), ("FSTM", 0, "BFSTM"), ("CSTM", 0, "BFSTM"),
        ("STRM", 0, "AST"), ("CRYO_APC", 0, "APC"), ("VAGp", 0, "VAG"), ("VPK ", 0, "VPK"), ("KVAG", 0, "KVAG"),
        ("XVAG", 0, "XVAG"), ("MSF", 0, "MSF"), ("MTAF", 0, "MTAF"), ("nut/multimedia container\0", 0, "NUT"),
    ]

    private static let marksForChild: [Mark] = [
        ([0x1A, 0x45, 0xDF, 0xA3], 0, "Matroska"),
        ([0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11], 0, "Windows Media"), ([0xF8, 0x72, 0x6F, 0xBB], 4, "MLP"),
        ([0xF8, 0x72, 0x6F, 0xBA], 4, "TrueHD"), ([0x7F, 0xFE, 0x80, 0x01], 0, "DTS"),
        ([0xFE, 0x7F, 0x01, 0x80], 0, "DTS"), ([0x1F, 0xFF, 0xE8, 0x00], 0, "DTS"),
        ([0xFF, 0x1F, 0x00, 0xE8], 0, "DTS"), ([0x2E, 0x72, 0x61, 0xFD], 0, "RealAudio"),
        ([0xC0, 0xDE, 0xC2], 0, "Codec 2"), ([0, 0, 1, 0xBA], 0, "MPEG program stream"),
    ]

    /// Name of a stream without a signature, by the fields of its first frames.
    private static func streamName(_ file: [UInt8]) -> String? {
        func byte(_ offset: Int) -> Int { offset < file.count ? Int(file[offset]) : 0 }
        // ATSC A/52 §5.3, annex E: a valid sampling rate, and the version.
        if byte(0) == 0x0B, byte(1) == 0x77 {
            let version = byte(5) >> 3
            if version <= 10, byte(4) >> 6 != 3, byte(4) & 0x3F < 38 { return "AC-3" }
            if (11...16).contains(version) { return "E-AC-3" }
        }
        // ISO 13818-1 §2.4.3: packets of 188 bytes.
        if file.count > 3 * 188, [0, 188, 376, 564].allSatisfy({ byte($0) == 0x47 }) { return "MPEG transport stream" }
        // ISO 14496-3 §1.7.2: two frames of LOAS.
        let next = 3 + (byte(1) & 0x1F) << 8 + byte(2)
        func isSync(_ offset: Int) -> Bool { byte(offset) == 0x56 && byte(offset + 1) & 0xE0 == 0xE0 }
        if isSync(0), isSync(next) { return "AAC (LOAS)" }
        // CRI ADX: the offset of its copyright.
        let offset = byte(2) << 8 | byte(3)
        if byte(0) == 0x80, byte(1) == 0, offset >= 8, file.dropFirst(offset - 2).starts(with: Array("(c)CRI".utf8)) {
            return "ADX"
        }
        // IRCAM: its signature in either byte order, and the machine type.
        let isForward = byte(0) == 0x64 && byte(1) == 0xA3 && byte(3) == 0 && (1...4).contains(byte(2))
        let isBackward = byte(3) == 0x64 && byte(2) == 0xA3 && byte(0) == 0 && (1...4).contains(byte(1))
        if isForward || isBackward { return "IRCAM" }
        // IEC 61937-1 §6: a burst of sound that is not PCM.
        if file.starts(with: [0x72, 0xF8, 0x1F, 0x4E]) { return "IEC 61937" }
        return nil
    }

    private static let unsupportedTexts: [TextMark] = [
        ("OFR ", 0, "OptimFROG"), ("MThd", 0, "MIDI"), ("ADIF", 0, "AAC"), ("\u{7F}ELF", 0, "A program"),
        ("%PDF", 0, "PDF"), ("GIF8", 0, "A picture"), ("PNG\r\n", 1, "A picture"), ("JFIF", 6, "A picture"),
        ("Exif", 6, "A picture"), ("WEBP", 8, "A picture"), ("PK\u{3}\u{4}", 0, "A ZIP archive"),
    ]
}
