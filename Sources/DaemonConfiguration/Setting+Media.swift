import TrackReading

/// Settings about files, lists and tags.
extension Setting {
    static let mediaSettings: [Setting] = [
        Setting(
            section: "media", name: "legacy-charset",
            takes: "a character set that the C library knows, such as shift-jis, gbk or cp1251", defaultText: "cp1252",
            sample: "shift-jis",
            help:
                "Character set of texts that are not UTF-8 and do not name theirs: tags, playlists and cue sheets with "
                + "the file names in them, and titles of radio stations. A text that is not valid in it is taken for cp1252. "
                + "iconv -l lists the names. After a change, the library reads the tags of all files again.",
            isReloadable: true
        ) {
            $0.legacyCharset = $1; return LegacyCharset($1) != nil
        }
    ]
}
