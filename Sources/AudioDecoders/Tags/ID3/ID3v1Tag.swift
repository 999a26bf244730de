import TrackReading

/// ID3v1, with the track number that 1.1 put into the comment.
enum ID3v1Tag {
    /// Fields of these 128 bytes.
    static func fields(_ tag: [UInt8]) -> TagFields {
        var fields = TagFields()
        func text(_ range: Range<Int>) -> String? {
            let text = tag[range].prefix { $0 != 0 }
            return ID3Text.latin1(text.count == range.count ? LegacyText.wholeCharacters(text) : text)
        }
        guard tag.count == 128 else { return fields }
        fields.add("TITLE", text(3..<33))
        fields.add("ARTIST", text(33..<63))
        fields.add("ALBUM", text(63..<93))
        fields.add("YEAR", text(93..<97))
        fields.add("COMMENT", text(97..<127))
        if tag[125] == 0, tag[126] != 0 { fields.add("TRACKNUMBER", String(tag[126])) }
        fields.add("GENRE", ID3Genres.name(Int(tag[127])))
        return fields
    }
}
