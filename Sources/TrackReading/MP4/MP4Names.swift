/// Boxes of the list of tags of iTunes, and texts of RIFF files, by their four letters.
enum MP4Names {
    /// Content of a box.
    enum Kind: Sendable {
        case text(TagMeaning)
        /// A number and its total, two bytes each.
        case pair(TagNumber)
        case number(TagNumber), count(TagNumber)
        /// A whole number that is a text in other formats.
        case numeric(TagName)
        case compilation, podcast, genre, advisory, picture

        /// True for pictures, which are not read.
        var isPicture: Bool { if case .picture = self { true } else { false } }
    }

    /// The kind of the box of this type; nil: it is not used.
    static func kind(_ type: Int) -> Kind? { kinds[type] }

    private static let kinds = CodeTable<Kind>(
        others.map { (MP4Boxes.Box.code($0.0), $0.1) }
            + values.map { (MP4Boxes.Box.code($0.0), .text(.value($0.1))) })

    private static let others: [(StaticString, Kind)] = [
        ("trkn", .pair(.track)), ("disk", .pair(.disc)), ("\u{A9}mvi", .number(.movement)),
        ("\u{A9}mvc", .count(.movement)), ("tmpo", .numeric(.bpm)), ("cpil", .compilation), ("pcst", .podcast),
        ("gnre", .genre), ("rtng", .advisory), ("covr", .picture), ("\u{A9}lyr", .text(.lyrics)),
    ]

    private static let values: [(StaticString, TagName)] = [
        ("\u{A9}nam", .title), ("sonm", .titleSort), ("\u{A9}ART", .artist), ("soar", .artistSort),
        ("aART", .albumArtist), ("soaa", .albumArtistSort), ("\u{A9}alb", .album), ("soal", .albumSort),
        ("\u{A9}wrt", .composer), ("soco", .composerSort), ("\u{A9}gen", .genre), ("\u{A9}day", .date),
        ("\u{A9}grp", .grouping), ("\u{A9}wrk", .work), ("\u{A9}mvn", .movement), ("\u{A9}cmt", .comment),
        ("desc", .description), ("cprt", .copyright), ("\u{A9}cpy", .copyright), ("\u{A9}too", .encodedBy),
        ("\u{A9}enc", .encodedBy), ("\u{A9}con", .conductor), ("\u{A9}dir", .director), ("\u{A9}pub", .label),
        ("tvsh", .show), ("\u{A9}st3", .subtitle),
    ]
}
