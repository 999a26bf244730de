/// Words of which names and titles are made.
enum NameParts {
    static let latin = [
        "love", "night", "the", "of", "blue", "river", "heart", "dream", "fire", "rain", "moon", "dance", "black",
        "golden",
        "sun", "road", "home", "time", "light", "shadow", "summer", "winter", "silver", "stone", "wind", "sea", "sky",
        "star", "angel", "devil", "king", "queen", "city", "street", "train", "machine", "garden", "mirror", "glass",
        "wild", "broken", "lonely", "crazy", "sweet", "little", "big", "old", "new", "lost", "found", "burning",
        "falling",
        "flying", "running", "waiting", "dancing", "singing", "crying", "smile", "tears", "blood", "bone", "skin",
        "eyes",
        "hand", "mind", "soul", "ghost", "memory", "paradise", "electric", "velvet", "diamond", "paper", "plastic",
        "morning", "midnight", "evening", "sunday", "monday", "forever", "never", "always", "again", "away", "over",
        "Björk", "señor", "café", "naïve", "Motörhead", "Sigur", "Rós", "Søren", "Łódź", "straße", "ægir", "Mañana",
        "don't", "rock'n'roll", "symphony", "sonata", "concerto", "quartet", "opus", "allegro", "adagio", "requiem",
    ]
    static let japanese = [
        "東京", "夜", "雨", "恋", "夢", "世界", "花", "空", "海", "星", "さくら", "ありがとう", "メロディー", "ダンス", "心", "時間", "光", "風",
        "月", "旅",
    ]
    static let russian = [
        "ночь", "любовь", "звезда", "город", "дождь", "ветер", "солнце", "ёлка", "мечта", "дорога", "время", "сердце",
        "песня",
        "огонь", "река", "зима", "весна", "небо", "море", "тишина",
    ]
    static let genres = [
        "Rock", "Pop", "Jazz", "Classical", "Electronic", "Hip-Hop", "Folk", "Metal", "Blues", "Soul", "Reggae",
        "Country",
        "Ambient", "Techno", "House", "Punk", "Soundtrack", "Latin", "Funk", "Disco", "Opera", "Indie Rock",
        "Post-Rock",
        "Trip-Hop", "Drum & Bass", "Chanson", "Gospel", "Ska", "R&B", "World",
    ]
    static let labels = (0..<400).map { index in
        var numbers = SeededNumbers(seed: UInt64(index) + 99)
        return syllables(&numbers, 3).capitalizedFirst + " Records"
    }

    private static let onsets = [
        "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "st", "kr", "sh",
    ]
    private static let rhymes = ["a", "e", "i", "o", "u", "an", "el", "ir", "on", "us", "ai", "er"]

    /// A word that means nothing, of so many syllables.
    static func syllables(_ numbers: inout SeededNumbers, _ count: Int) -> String {
        (0..<count).map { _ in
            onsets[numbers.number(below: onsets.count)] + rhymes[numbers.number(below: rhymes.count)]
        }.joined()
    }

    /// A name of so many words; half of them are known words, half mean nothing.
    static func name(_ numbers: inout SeededNumbers, _ words: Int, _ script: [String], isTitled: Bool) -> String {
        let parts = (0..<words).map { _ in
            script.count == latin.count && numbers.percent(45)
                ? syllables(&numbers, 2 + numbers.number(below: 2))
                : script[numbers.number(below: script.count, skew: 2)]
        }
        return parts.map { isTitled ? $0.capitalizedFirst : $0 }.joined(separator: " ")
    }
}
