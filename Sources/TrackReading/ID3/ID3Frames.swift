import NowPlaying

/// Reads the contents of frames of ID3v2.
enum ID3Frames {
    /// Reads the content of a frame.
    static func take(_ kind: ID3FrameNames.Kind, _ content: ByteView, version: Int, into set: inout TagSet) {
        switch kind {
        case .text(let meaning): ID3Strings.forEach(content) { if !$0.isEmpty { set.take(meaning, $0) } }
        case .address(let name): ID3Strings.latin1(content.untilZero) { set.add(name, $0.text) }
        case .genre:
            ID3Strings.forEach(content) { part in
                guard let text = part.text else { return }
                for genre in ID3Genres.names(text) { set.add(.genre, genre) }
            }
        case .userText: takeUserText(content, into: &set)
        case .comment: takeComment(content, into: &set)
        case .people: takePeople(content, into: &set)
        case .fileIdentity:
            guard let zero = content.firstIndex(of: 0), content.has("http://musicbrainz.org"), zero == 22 else {
                return
            }
            set.add(.musicBrainzTrackId, content.part(zero + 1).text)
        case .lyrics: if content.count > 5 { set.noteLyrics() }
        case .picture: takePicture(content, version: version, into: &set)
        case .chapter: takeChapter(content, version: version, into: &set)
        case .volume: takeVolume(content, into: &set)
        case .podcast: set.add(.podcast, "1")
        case .contentGroup: break
        }
    }

    private static func takeUserText(_ content: ByteView, into set: inout TagSet) {
        var meaning: TagMeaning?
        var name: String?
        var isFirst = true
        ID3Strings.forEach(content) { part in
            if isFirst {
                meaning = FieldNames.described.meaning(part)
                name = set.keepsComments ? part.text : nil
                isFirst = false
                return
            }
            if let meaning, !part.isEmpty { set.take(meaning, part) }
            set.note(name, part, meaning)
        }
    }

    /// A comment: encoding, language, subject, text. A comment with a subject holds data of a program.
    private static func takeComment(_ content: ByteView, into set: inout TagSet) {
        guard content.count > 4 else { return }
        var index = 0
        var isPlain = false
        ID3Strings.forEach(content.part(4), encoding: content[0]) { part in
            if index == 0 { isPlain = part.isEmpty || part.text?.lowercased() == "description" }
            if index == 1, isPlain { set.add(.comment, part.text) }
            index += 1
        }
    }

    private static let roles: [String: TagName] = [
        "arranger": .arranger, "engineer": .engineer, "producer": .producer, "dj-mix": .djMixer, "mix": .mixer,
        "conductor": .conductor, "composer": .composer, "lyricist": .lyricist, "remixer": .remixer,
    ]

    /// Pairs of a role and a name; a role without a tag is an instrument or similar.
    private static func takePeople(_ content: ByteView, into set: inout TagSet) {
        var role: String?
        var isRole = true
        ID3Strings.forEach(content) { part in
            if isRole {
                role = part.text
            } else if let name = part.text {
                if let known = roles[role?.lowercased() ?? ""] {
                    set.add(known, name)
                } else {
                    set.add(.performer, role.map { TagText.cut("\(name) (\($0))") } ?? name)
                }
            }
            isRole.toggle()
        }
    }

    /// A picture: encoding, type (three letters in 2.2), and further fields.
    private static func takePicture(_ content: ByteView, version: Int, into set: inout TagSet) {
        guard content.count > 6 else { return }
        if version == 2 { return set.addPicture(type: PictureTypes.type(content.part(1, 3))) }
        set.addPicture(type: PictureTypes.type(content.part(1).untilZero))
    }

    /// CHAP (ID3v2 Chapter Frame Addendum §3.1): an identifier, times, and embedded frames.
    private static func takeChapter(_ content: ByteView, version: Int, into set: inout TagSet) {
        guard let zero = content.firstIndex(of: 0), content.count >= zero + 17 else { return }
        var rest = content.part(zero + 17)
        var title: String?
        while rest.count > 10, title == nil {
            let size = version == 4 ? rest.safe32(4) : rest.big32(4)
            if rest.has("TIT2") { ID3Strings.forEach(rest.part(10, size)) { title = title ?? $0.text } }
            guard size > 0, size <= rest.count - 10 else { break }
            rest = rest.part(10 + size)
        }
        set.add(Chapter(start: Double(content.big32(zero + 1)) / 1000, title: title))
    }

    /// RVA2 (ID3v2.4 §4.11): a subject, then for a channel the change in 1/512 dB and the peak.
    private static func takeVolume(_ content: ByteView, into set: inout TagSet) {
        guard let zero = content.firstIndex(of: 0) else { return }
        let isAlbum = String(decoding: content.part(0, zero).buffer, as: UTF8.self).lowercased().holds("album")
        var index = zero + 1
        while index + 4 <= content.count {
            let gain = Int16(truncatingIfNeeded: content.big16(index + 1))
            let peakBits = Int(content[index + 3])
            let peakBytes = (peakBits + 7) / 8
            guard index + 4 + peakBytes <= content.count else { return }
            // 1: the master volume.
            if content[index] == 1 {
                set.add(isAlbum ? .albumGain : .trackGain, "\(Double(gain) / 512) dB")
                guard peakBits >= 8, peakBits <= 32 else { return }
                let peak = (0..<peakBytes).reduce(0) { $0 << 8 | Int(content[index + 4 + $1]) }
                if peak > 0 {
                    set.add(isAlbum ? .albumPeak : .trackPeak, "\(Double(peak) / Double(1 << (peakBits - 1)))")
                }
                return
            }
            index += 4 + peakBytes
        }
    }
}

/// Media types of pictures in tags.
enum PictureTypes {
    /// The type in these bytes: `image/jpeg`, `JPG`, `PNG`; nil: unknown.
    static func type(_ bytes: ByteView) -> String? {
        guard let text = bytes.part(0, 64).text?.lowercased() else { return nil }
        switch text {
        case "image/jpg", "jpg", "jpeg": return "image/jpeg"
        case "png": return "image/png"
        case _ where text.hasPrefix("image/"): return text
        default: return nil
        }
    }

    /// The type of the picture that begins with these bytes; nil: unknown.
    static func type(ofPicture bytes: ByteView) -> String? {
        if bytes[0] == 0xFF, bytes[1] == 0xD8 { return "image/jpeg" }
        if bytes[0] == 0x89, bytes.has("PNG", at: 1) { return "image/png" }
        if bytes.has("GIF8") { return "image/gif" }
        if bytes.has("RIFF"), bytes.has("WEBP", at: 8) { return "image/webp" }
        return nil
    }
}
