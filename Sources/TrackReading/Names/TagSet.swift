import NowPlaying

/// The fields of one tag of a file during the read. A file may have several tags: the first one with a field counts.
struct TagSet {
    private(set) var tags = TrackTags()
    private(set) var chapterFrames: [Chapter] = []
    private(set) var isCompilation: Bool?
    private(set) var hasLyrics = false
    private(set) var hasCueSheet = false
    private(set) var pictureCount = 0
    private(set) var pictureType: String?
    /// All fields by their names; nil: they are not kept.
    private var comments: TrackComments?

    private var numbers = Numbers<(number: Int?, count: Int?)>()
    private var totals = Numbers<Int>()
    private var gains: [(name: GainName, text: String)] = []
    private var chapterComments = ChapterComments()
    private var year: String?
    private var originalYear: String?
    private var dayMonth: String?

    /// A value for each kind of number.
    private struct Numbers<Value> {
        private var track: Value?
        private var disc: Value?
        private var movement: Value?

        subscript(number: TagNumber) -> Value? {
            get {
                switch number {
                case .track: track
                case .disc: disc
                case .movement: movement
                }
            }
            set {
                switch number {
                case .track: track = newValue
                case .disc: disc = newValue
                case .movement: movement = newValue
                }
            }
        }
    }

    /// No fields. `keepsComments`: all fields are kept by their names, too.
    init(keepsComments: Bool = false) { if keepsComments { comments = TrackComments() } }

    /// True if all fields are kept by their names.
    var keepsComments: Bool { comments != nil }

    /// Keeps a field by its name; nil for `meaning`: it has none.
    mutating func note(_ name: String?, _ value: ByteView, _ meaning: TagMeaning?) {
        guard comments != nil, let name, let text = value.text else { return }
        let tag: TagName?
        switch meaning {
        case .value(let found)?: tag = found
        case .year?: tag = .date
        case .originalYear?: tag = .originalDate
        case .movement?: tag = .movement
        case .number?, .count?, .gain?, .dayMonth?, .compilation?, .lyrics?, .cueSheet?, .pictureBlock?, .picture?, nil:
            tag = nil
        }
        comments?.add(name, text, tag)
    }

    /// Reads a field in UTF-8, or in Latin-1 if it is not valid UTF-8.
    mutating func take(_ meaning: TagMeaning, _ value: ByteView) {
        switch meaning {
        case .value(let name):
            guard let text = value.text else { break }
            // A date in another form is found, sorted and compared only in the usual one.
            let isDate = name == .date || name == .originalDate
            tags.add(name, isDate ? TagNumbers.usualDate(text) : text)
        case .number(let number):
            let read = TagNumbers.numberAndCount(value.text)
            if numbers[number] == nil { numbers[number] = read }
        case .count(let number): if totals[number] == nil { totals[number] = TagNumbers.number(value.text) }
        case .gain(let name): if let text = value.text { add(name, text) }
        case .year: year = year ?? value.text
        case .originalYear: originalYear = originalYear ?? value.text
        case .dayMonth: dayMonth = dayMonth ?? value.text
        case .compilation: takeCompilation(value.text)
        case .movement: takeMovement(value.text)
        case .lyrics: if value.text != nil { hasLyrics = true }
        case .cueSheet: if !value.isEmpty { hasCueSheet = true }
        case .pictureBlock, .picture: addPicture(type: nil)
        }
    }

    /// Adds a text.
    mutating func add(_ name: TagName, _ text: String?) { if let text { tags.add(name, text) } }

    /// Sets a number of a format with numeric fields; 0: none.
    mutating func set(_ number: TagNumber, _ value: Int, of count: Int) {
        func known(_ value: Int) -> Int? { (1...99_999).contains(value) ? value : nil }
        if numbers[number] == nil { numbers[number] = (known(value), known(count)) }
    }

    /// Sets a total of a format with numeric fields; 0: none.
    mutating func setCount(_ number: TagNumber, _ count: Int) {
        if totals[number] == nil, (1...99_999).contains(count) { totals[number] = count }
    }

    /// Adds a gain from a field of the format's own.
    mutating func add(_ gain: GainName, _ text: String) { if !has(gain) { gains.append((gain, text)) } }

    /// Adds a picture; nil: its type is unknown.
    mutating func addPicture(type: String?) {
        if pictureCount == 0 { pictureType = type }
        pictureCount = min(pictureCount + 1, 32)
    }

    /// Adds a chapter, unless there are too many already.
    mutating func add(_ chapter: Chapter?) {
        if let chapter, chapterFrames.count < Chapter.limit { chapterFrames.append(chapter) }
    }

    /// Reads a comment about a chapter; false: it is another comment.
    mutating func takeChapter(_ name: ByteView, _ value: ByteView) -> Bool {
        chapterComments.take(String(decoding: name.buffer, as: UTF8.self).uppercased(), value.text)
    }

    /// Sets the flag for a compilation, of a format that has one.
    mutating func setCompilation(_ isOne: Bool) { isCompilation = isCompilation ?? isOne }

    /// Notes a cue sheet in a field of the format's own.
    mutating func noteCueSheet() { hasCueSheet = true }

    /// Notes lyrics in a field of the format's own.
    mutating func noteLyrics() { hasLyrics = true }

    /// Changes the name of all values of one name.
    mutating func rename(_ name: TagName, to other: TagName) { tags.rename(name, to: other) }

    private mutating func takeCompilation(_ text: String?) {
        guard let text, isCompilation == nil else { return }
        switch text.lowercased() {
        case "1", "true", "yes": isCompilation = true
        case "0", "false", "no": isCompilation = false
        default: break
        }
    }

    private mutating func takeMovement(_ text: String?) {
        let read = TagNumbers.numberAndCount(text)
        if read.number != nil {
            if numbers[.movement] == nil { numbers[.movement] = read }
        } else if let text {
            tags.add(.movement, text)
        }
    }

    /// Ends the read of one tag: a year becomes the date if there is no better one.
    mutating func close() {
        if let year, !tags.has(.date) {
            let isWhole = year.utf8.count == 4 && dayMonth?.utf8.count == 4
            let day = dayMonth ?? ""
            tags.add(.date, isWhole ? "\(year)-\(day.suffix(2))-\(day.prefix(2))" : TagNumbers.usualDate(year))
        }
        if let originalYear, !tags.has(.originalDate) { tags.add(.originalDate, TagNumbers.usualDate(originalYear)) }
        (year, originalYear, dayMonth) = (nil, nil, nil)
    }

    /// Adds the fields of another set that are missing here.
    mutating func fill(from other: TagSet) {
        tags.fill(from: other.tags)
        for number in TagNumber.allCases {
            numbers[number] = numbers[number] ?? other.numbers[number]
            totals[number] = totals[number] ?? other.totals[number]
        }
        for (name, text) in other.gains { add(name, text) }
        isCompilation = isCompilation ?? other.isCompilation
        hasLyrics = hasLyrics || other.hasLyrics
        hasCueSheet = hasCueSheet || other.hasCueSheet
        if let comments = other.comments { self.comments?.add(comments) }
        if pictureCount == 0 { (pictureCount, pictureType) = (other.pictureCount, other.pictureType) }
        if chapterFrames.isEmpty, chapterComments.chapters.isEmpty {
            chapterFrames = other.chapterFrames
            chapterComments = other.chapterComments
        }
    }

    /// True if there is a gain of this name.
    func has(_ gain: GainName) -> Bool { gains.contains { $0.name == gain } }

    /// Writes all fields into `facts`; `prefersR128`: as in `LoudnessTags`.
    func write(into facts: inout TrackFacts, prefersR128: Bool = false) {
        facts.tags = tags
        facts.comments = comments?.completed(with: tags) ?? []
        (facts.trackNumber, facts.trackCount) = pair(.track)
        (facts.discNumber, facts.discCount) = pair(.disc)
        (facts.movementNumber, facts.movementCount) = pair(.movement)
        facts.isCompilation = isCompilation
        facts.hasLyrics = hasLyrics
        facts.hasCueSheet = hasCueSheet
        (facts.pictureCount, facts.pictureType) = (pictureCount, pictureType)
        facts.chapters =
            chapterFrames.isEmpty ? chapterComments.chapters : chapterFrames.sorted { $0.start < $1.start }
        guard !gains.isEmpty else { return }
        facts.loudness = LoudnessTags(prefersR128: prefersR128) { name in
            gains.first { $0.name.rawValue == name }?.text
        }
    }

    private func pair(_ number: TagNumber) -> (Int?, Int?) {
        (numbers[number]?.number, totals[number] ?? numbers[number]?.count)
    }
}
