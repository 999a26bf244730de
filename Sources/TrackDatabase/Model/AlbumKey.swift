/// Distinguishes albums. The rule:
///
/// * An album is (album artists, title, MusicBrainz id of the release). Without the id, the folder takes its place: so
///   editions and albums of the same name in different folders are different albums.
/// * Folders of discs (`CD1`, `Disc 2 - Live`, `Side A` …) count as the folder above them: an album in several is one.
/// * Without an album artist, the tracks of one folder with one title are one album. If their artists differ, or a file
///   is marked so, it is a compilation, and has no artist of its own.
/// * A track without an album title is on no album.
package struct AlbumKey: Hashable, Sendable {
    /// A digest of 16 bytes of the parts, each with its length.
    let bytes: [UInt8]

    /// The key of a track's album; nil: it is on no album.
    package init?(_ record: TrackRecord) {
        guard let title = record.tags[.album]?.first, !title.isEmpty else { return nil }
        let release = record.tags[.musicBrainzAlbumId]?.first.map { Array($0.utf8) }
        var parts = (record.tags[.albumArtist] ?? []).map { Array($0.utf8) }
        parts += [Array(title.utf8), release ?? Self.albumFolder(record.path.folder), [release == nil ? 0 : 1]]
        let whole = parts.flatMap { part in
            let count = UInt32(clamping: part.count)
            return (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } + part
        }
        bytes = Self.digest(whole, 0xCBF2_9CE4_8422_2325) + Self.digest(whole, 0x9E37_79B9_7F4A_7C15)
    }

    /// FNV-1a from a basis, mixed at each byte, as bytes.
    private static func digest(_ bytes: [UInt8], _ basis: UInt64) -> [UInt8] {
        var hash = basis
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
            hash ^= hash >> 29
        }
        return (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
    }

    /// The folder of the album with a track in `folder`.
    static func albumFolder(_ folder: [UInt8]) -> [UInt8] {
        let path = TrackPath(folder)
        return !path.folder.isEmpty && isDisc(path.name) ? path.folder : folder
    }

    private static let discs = ["cd", "disc", "disk", "dvd", "side", "lp", "vinyl", "disque", "disco", "диск", "でぃすく"]

    /// True if a folder of this name holds one disc of an album.
    static func isDisc(_ name: [UInt8]) -> Bool {
        let folded = Folding.fold(bytes: name)
        for word in discs where folded.hasPrefix(word) {
            var rest = folded.unicodeScalars.dropFirst(word.unicodeScalars.count)
            let parted = rest.drop { $0 == " " || $0 == "." || $0 == "_" || $0 == "-" || $0 == "#" }
            let isParted = parted.count < rest.count
            rest = parted
            let number = rest.prefix { (0x30...0x39).contains($0.value) }
            var after = rest.dropFirst(number.count)
            if number.isEmpty {
                guard isParted, let letter = rest.first, (0x61...0x6C).contains(letter.value) else { continue }
                after = rest.dropFirst()
            } else if number.count > 2 {
                continue
            }
            if after.first.map(SearchWords.isWord) != true { return true }
        }
        return false
    }
}
