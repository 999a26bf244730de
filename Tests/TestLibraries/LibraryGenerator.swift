package import TrackDatabase

/// Makes libraries that look like real ones: artists of unlike size, albums in folders, compilations, several scripts, twelve
/// tags a track. The same seed makes the same library.
package struct LibraryGenerator: Sendable {
    private var numbers: SeededNumbers
    private let artistCount: Int
    private let trackCount: Int
    private let hasIds: Bool
    private var made = 0
    private var album = 0
    private var pending: [TrackRecord] = []

    /// A library of so many tracks by so many artists. `hasIds`: each track has five MusicBrainz ids.
    package init(seed: UInt64, tracks: Int, artists: Int, hasIds: Bool = false) {
        numbers = SeededNumbers(seed: seed)
        trackCount = tracks
        artistCount = max(1, artists)
        self.hasIds = hasIds
    }

    /// The next track, album by album; nil: all were made.
    package mutating func next() -> TrackRecord? {
        guard made < trackCount else { return nil }
        if pending.isEmpty { pending = makeAlbum().reversed() }
        made += 1
        return pending.popLast()
    }

    /// The name of an artist.
    package static func artist(_ index: Int) -> String {
        var numbers = SeededNumbers(seed: UInt64(index) &* 7919 &+ 11)
        let script = index % 40 == 7 ? NameParts.japanese : index % 40 == 9 ? NameParts.russian : NameParts.latin
        let words = 1 + numbers.number(below: 3)
        var name = NameParts.name(&numbers, words, script, isTitled: true)
        if index % 11 == 0 { name = "The " + name }
        // Real names differ; so do these.
        return index < script.count * 4 ? name : name + " " + NameParts.syllables(&numbers, 2).capitalizedFirst
    }

    private mutating func makeAlbum() -> [TrackRecord] {
        defer { album += 1 }
        // The first albums go through all artists, so that each has one.
        let main = album < artistCount ? album : numbers.number(below: artistCount, skew: 3)
        let isCompilation = numbers.percent(6)
        let artist = Self.artist(main)
        let script = main % 40 == 7 ? NameParts.japanese : main % 40 == 9 ? NameParts.russian : NameParts.latin
        let title = NameParts.name(&numbers, 1 + numbers.number(below: 4), script, isTitled: true)
        let year = 1950 + numbers.number(below: 75)
        let genre = NameParts.genres[numbers.number(below: NameParts.genres.count, skew: 2)]
        let genres =
            numbers.percent(25) ? [genre, NameParts.genres[numbers.number(below: NameParts.genres.count)]] : [genre]
        let label = NameParts.labels[numbers.number(below: NameParts.labels.count, skew: 2)]
        let discs = numbers.percent(8) ? 2 : 1
        let count = 6 + numbers.number(below: 12)
        let composer = Self.artist((main * 31 + 5) % artistCount)
        let folder = "Music/\(isCompilation ? "Various" : artist)/\(year) - \(title) [\(album)]"
        let codec = ["flac", "mp3", "opus", "aac"][numbers.number(below: 4, skew: 2)]
        let albumId = hasIds ? numbers.id() : ""
        var records: [TrackRecord] = []
        for disc in 1...discs {
            for number in 1...count {
                let own = isCompilation ? Self.artist(numbers.number(below: artistCount, skew: 2)) : artist
                let name = NameParts.name(&numbers, 1 + numbers.number(below: 5), script, isTitled: true)
                let place = discs > 1 ? "\(folder)/CD\(disc)" : folder
                var record = TrackRecord(
                    path: TrackPath("\(place)/\(number < 10 ? "0" : "")\(number) - \(name).\(codec)"))
                record.tags = [
                    .title: [name], .artist: [own], .album: [title], .date: ["\(year)"], .genre: genres,
                    .label: [label],
                    .composer: [composer],
                ]
                if numbers.percent(8) { record.tags[.artist]?.append(Self.artist(numbers.number(below: artistCount))) }
                if !isCompilation { record.tags[.albumArtist] = [artist] }
                record.tags[.artistSort] = [own.hasPrefix("The ") ? "\(own.dropFirst(4)), The" : own]
                record.tags[.originalDate] = ["\(year)-0\(1 + main % 9)-1\(main % 9)"]
                record.numbers.trackNumber = Int64(number)
                record.numbers.discNumber = Int64(disc)
                record.numbers.trackCount = Int64(count)
                record.numbers.discCount = Int64(discs)
                record.isCompilation = isCompilation && numbers.percent(50)
                record.duration = 60 + Double(numbers.number(below: 360_000)) / 1000
                record.format = TrackFormat(
                    codec: codec, sampleRate: numbers.percent(80) ? 44_100 : 96_000, bitsPerSample: 16, channels: 2)
                record.file = TrackFile(
                    size: Int64(3_000_000 + numbers.number(below: 40_000_000)),
                    modified: 1_500_000_000_000_000_000 + Int64(numbers.number(below: 200_000_000)) * 1_000_000_007,
                    inode: Int64(1_000_000 + numbers.number(below: 30_000_000)))
                record.loudness.trackGain = -Double(numbers.number(below: 1200)) / 100
                record.hasPicture = true
                if hasIds {
                    record.tags[.musicBrainzAlbumId] = [albumId]
                    record.tags[.musicBrainzArtistId] = [Self.id(of: own)]
                    record.tags[.musicBrainzAlbumArtistId] = [Self.id(of: isCompilation ? "Various" : artist)]
                    record.tags[.musicBrainzRecordingId] = [numbers.id()]
                    record.tags[.musicBrainzReleaseTrackId] = [numbers.id()]
                }
                records.append(record)
            }
        }
        return records
    }
}

extension LibraryGenerator {
    /// The same for the same name.
    fileprivate static func id(of name: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        var numbers = SeededNumbers(seed: hash)
        return numbers.id()
    }
}

extension SeededNumbers {
    /// An id as MusicBrainz has them.
    fileprivate mutating func id() -> String {
        let digits = [next(), next()].map { number in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        var id = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { id.append("-") }
            id.append(digit)
        }
        return id
    }
}

extension String {
    /// With a capital at its beginning.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
