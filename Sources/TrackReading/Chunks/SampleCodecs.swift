/// Names of codings of samples, and numbers in old formats.
enum SampleCodecs {
    /// The coding of wFormatTag in WAV.
    static func wave(_ tag: Int) -> String {
        switch tag {
        case 1: "PCM"
        case 2: "MS ADPCM"
        case 3: "PCM (float)"
        case 6: "A-law"
        case 7: "µ-law"
        case 0x11: "IMA ADPCM"
        case 0x50: "MP2"
        case 0x55: "MP3"
        case 0xFF: "AAC"
        case 0x2000: "AC-3"
        default: "WAV"
        }
    }

    /// The compression type of AIFF-C.
    static func aiff(_ type: Int) -> String {
        switch type {
        case MP4Boxes.Box.code("NONE"), MP4Boxes.Box.code("twos"), MP4Boxes.Box.code("sowt"),
            MP4Boxes.Box.code("raw "), MP4Boxes.Box.code("in24"), MP4Boxes.Box.code("in32"):
            "PCM"
        case MP4Boxes.Box.code("fl32"), MP4Boxes.Box.code("FL32"), MP4Boxes.Box.code("fl64"),
            MP4Boxes.Box.code("FL64"):
            "PCM (float)"
        case MP4Boxes.Box.code("ulaw"), MP4Boxes.Box.code("ULAW"): "µ-law"
        case MP4Boxes.Box.code("alaw"), MP4Boxes.Box.code("ALAW"): "A-law"
        case MP4Boxes.Box.code("ima4"): "IMA ADPCM"
        default: "AIFF-C"
        }
    }

    /// A rate from a number of 80 bits (IEEE 754 extended), rounded down; 0: it is not a plausible rate.
    static func extendedRate(_ bytes: ByteView) -> Int {
        let exponent = bytes.big16(0) - 16_383
        guard (0..<31).contains(exponent) else { return 0 }
        return bytes.big32(2) >> (31 - exponent)
    }
}

/// Texts of RIFF (LIST INFO) and of AIFF, by their four letters.
enum RIFFNames {
    /// The meaning of the text in a chunk of this type; nil: it is not used.
    static func meaning(_ type: Int) -> TagMeaning? { meanings[type] }

    private static let meanings = CodeTable<TagMeaning>(rows.map { (MP4Boxes.Box.code($0.0), $0.1) })

    private static let rows: [(StaticString, TagMeaning)] = [
        ("INAM", .value(.title)), ("IART", .value(.artist)), ("IPRD", .value(.album)), ("ICRD", .value(.date)),
        ("IGNR", .value(.genre)), ("ICMT", .value(.comment)), ("ITRK", .number(.track)), ("IPRT", .number(.track)),
        ("TRCK", .number(.track)), ("IFRM", .count(.track)), ("ICOP", .value(.copyright)),
        ("IENG", .value(.engineer)), ("ISFT", .value(.encoderSettings)), ("IMUS", .value(.composer)),
        ("IWRI", .value(.writer)), ("IPRO", .value(.producer)), ("ILNG", .value(.language)),
        ("ISBJ", .value(.description)), ("ITCH", .value(.encodedBy)), ("IMED", .value(.media)),
        ("IPUB", .value(.label)), ("ISTR", .value(.performer)),
        // Of AIFF.
        ("NAME", .value(.title)), ("AUTH", .value(.artist)), ("(c) ", .value(.copyright)),
        ("ANNO", .value(.comment)),
    ]
}
