/// Kinds of frames of ID3v2 by their names; those of version 2.2 have three letters.
enum ID3FrameNames {
    /// Content of a used frame.
    enum Kind: Sendable {
        /// Texts with the meaning of a field.
        case text(TagMeaning)
        /// An address in Latin-1 without an encoding.
        case address(TagName)
        /// The work, if a frame for groups exists, as in iTunes; else the group.
        case contentGroup
        case genre, userText, comment, people, fileIdentity, lyrics, picture, chapter, volume, podcast
    }

    /// The kind of the frame with these letters, the first one highest; nil: it is not used.
    static func kind(_ code: Int) -> Kind? { kinds[code] }

    private static let kinds: CodeTable<Kind> = {
        var result: [(code: Int, value: Kind)] = rows.map { (code($0.0), $0.1) }
        for (names, field) in texts { result += names.split(separator: " ").map { (code($0), .text(field)) } }
        for (names, field) in values { result += names.split(separator: " ").map { (code($0), .text(.value(field))) } }
        return CodeTable(result)
    }()

    private static func code(_ name: some StringProtocol) -> Int { name.utf8.reduce(0) { $0 << 8 | Int($1) } }

    private static let rows: [(String, Kind)] = [
        ("TIT1", .contentGroup), ("TT1", .contentGroup), ("TCON", .genre), ("TCO", .genre), ("TXXX", .userText),
        ("TXX", .userText), ("COMM", .comment), ("COM", .comment), ("TIPL", .people), ("TMCL", .people),
        ("IPLS", .people), ("IPL", .people), ("UFID", .fileIdentity), ("UFI", .fileIdentity), ("USLT", .lyrics),
        ("ULT", .lyrics), ("SYLT", .lyrics), ("SLT", .lyrics), ("APIC", .picture), ("PIC", .picture),
        ("CHAP", .chapter), ("RVA2", .volume), ("PCST", .podcast), ("PCS", .podcast), ("WOAR", .address(.website)),
        ("WAR", .address(.website)), ("WCOP", .address(.license)), ("WCP", .address(.license)),
    ]

    private static let texts: [(String, TagMeaning)] = [
        ("TRCK TRK", .number(.track)), ("TPOS TPA", .number(.disc)), ("MVIN MVI", .number(.movement)),
        ("TCMP TCP", .compilation), ("TYER TYE", .year), ("TDAT TDA", .dayMonth), ("TORY TOR", .originalYear),
    ]

    private static let values: [(String, TagName)] = [
        ("TIT2 TT2", .title), ("TIT3 TT3", .subtitle), ("TPE1 TP1", .artist), ("TPE2 TP2", .albumArtist),
        ("TPE3 TP3", .conductor), ("TPE4 TP4", .remixer), ("TALB TAL", .album), ("TCOM TCM", .composer),
        ("TEXT TXT", .lyricist), ("TSOT TST", .titleSort), ("TSOP TSP", .artistSort), ("TSOA TSA", .albumSort),
        ("TSO2 TS2", .albumArtistSort), ("TSOC TSC", .composerSort), ("GRP1 GP1", .grouping),
        ("MVNM MVN", .movement), ("TPUB TPB", .label), ("TSST", .discSubtitle), ("TDRC", .date),
        ("TDOR", .originalDate), ("TDRL", .releaseDate), ("TMOO", .mood), ("TKEY TKE", .key), ("TBPM TBP", .bpm),
        ("TLAN TLA", .language), ("TMED TMT", .media), ("TSRC TRC", .isrc), ("TCOP TCR", .copyright),
        ("TENC TEN", .encodedBy), ("TSSE TSS", .encoderSettings), ("TOPE TOA", .originalArtist),
        ("TOAL TOT", .originalAlbum), ("TDES TDS", .description),
    ]
}
