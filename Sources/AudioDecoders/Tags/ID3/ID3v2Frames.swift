import NowPlaying
import TrackReading

/// Meaning of the frames of ID3v2, by the names of Vorbis comments.
enum ID3v2Frames {
    /// True if this reader uses frames of this name.
    static func isKnown(_ name: String) -> Bool { names[name] != nil || specials.contains(name) }

    private static let specials: Set<String> = [
        "TXXX", "TXX", "COMM", "COM", "TCON", "TCO", "TDAT", "TDA", "RVA2", "PCST", "PCS", "CHAP", "TRCK", "TRK",
        "TPOS", "TPA",
    ]

    /// Fields of the frames whose texts need no conversion; frames of 2.2 have three letters.
    private static let names: [String: String] = [
        "TIT2": "TITLE", "TT2": "TITLE", "TIT3": "SUBTITLE", "TT3": "SUBTITLE", "TPE1": "ARTIST", "TP1": "ARTIST",
        "TPE2": "ALBUMARTIST", "TP2": "ALBUMARTIST", "TALB": "ALBUM", "TAL": "ALBUM", "TCOM": "COMPOSER",
        "TCM": "COMPOSER", "TDRC": "DATE", "TDRL": "RELEASEDATE", "TYER": "YEAR", "TYE": "YEAR", "TSRC": "ISRC",
        "TRC": "ISRC", "TLAN": "LANGUAGE", "TLA": "LANGUAGE", "TDES": "DESCRIPTION", "TDS": "DESCRIPTION",
    ]

    /// Adds the fields of a frame.
    static func take(_ name: String, _ content: [UInt8], into fields: inout TagFields) {
        if let field = names[name] {
            for text in ID3Text.texts(content) { fields.add(field, text.isEmpty ? nil : text) }
            return
        }
        switch name {
        case "TXXX", "TXX":
            let texts = ID3Text.texts(content)
            guard let described = texts.first else { return }
            let field = userFields[described.uppercased()] ?? described.uppercased()
            for text in texts.dropFirst() where !text.isEmpty { fields.add(field, text) }
        case "COMM", "COM": takeComment(content, into: &fields)
        case "TCON", "TCO":
            for text in ID3Text.texts(content) { for genre in ID3Genres.names(text) { fields.add("GENRE", genre) } }
        case "TRCK", "TRK": fields.add("TRACKNUMBER", ID3Text.texts(content).first)
        case "TPOS", "TPA": fields.add("DISCNUMBER", ID3Text.texts(content).first)
        case "TDAT", "TDA":
            // Day and month in four digits, beside the year.
            fields.add("DAYMONTH", ID3Text.texts(content).first)
        case "PCST", "PCS": fields.add("PODCAST", "1")
        case "RVA2": takeVolume(content, into: &fields)
        default: break
        }
    }

    /// Fields of user texts whose names differ from those of Vorbis comments.
    private static let userFields = [
        "ALBUM ARTIST": "ALBUMARTIST", "ARTISTS": "ARTISTS", "ITUNESADVISORY": "ITUNESADVISORY",
        "PODCASTDESC": "DESCRIPTION",
    ]

    /// A comment: encoding, language, description, text. Comments with a description other than `description` are
    /// numbers of programs, and are ignored.
    private static func takeComment(_ content: [UInt8], into fields: inout TagFields) {
        guard content.count > 4 else { return }
        let texts = ID3Text.texts(content[4...], encoding: content[0])
        guard texts.count >= 2, texts[0].isEmpty || texts[0].lowercased() == "description" else { return }
        if !texts[1].isEmpty { fields.add("COMMENT", texts[1]) }
    }

    /// RVA2 (ID3v2.4 §4.11): a name, then for each channel the change in 1/512 dB and the peak.
    private static func takeVolume(_ content: [UInt8], into fields: inout TagFields) {
        guard let zero = content.firstIndex(of: 0) else { return }
        let name = String(decoding: content[..<zero], as: UTF8.self).lowercased()
        let which = name.holds("album") ? "ALBUM" : "TRACK"
        var index = zero + 1
        while index + 4 <= content.count {
            let channel = content[index]
            let gain = Int16(bitPattern: UInt16(content[index + 1]) << 8 | UInt16(content[index + 2]))
            let peakBits = Int(content[index + 3])
            let peakBytes = (peakBits + 7) / 8
            guard index + 4 + peakBytes <= content.count else { return }
            // 1: the master volume.
            if channel == 1 {
                fields.add("REPLAYGAIN_\(which)_GAIN", "\(Double(gain) / 512) dB")
                if peakBits >= 8, peakBits <= 32 {
                    let peak = content[(index + 4)..<(index + 4 + peakBytes)].reduce(0) { $0 << 8 | Int($1) }
                    let full = Double(Int64(1) << Int64(8 * peakBytes - 1 - (8 * peakBytes - peakBits)))
                    if peak > 0 { fields.add("REPLAYGAIN_\(which)_PEAK", "\(Double(peak) / full)") }
                }
                return
            }
            index += 4 + peakBytes
        }
    }
}
