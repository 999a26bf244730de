/// The list of tags of iTunes: a box for each tag, with boxes `data` in it.
enum MP4List {
    private static let maximumItems = 1024
    private static let maximumValue = 16 << 10

    /// Reads the box `meta`.
    static func read(_ window: FileWindow, _ meta: MP4Boxes.Box, into set: inout TagSet) throws(TrackReadingError) {
        // It begins with a version and flags, except in QuickTime.
        let isBare = try window.bytes(at: meta.start + 4, count: 4).has("hdlr")
        var boxes = MP4Boxes(window, in: meta, after: isBare ? 0 : 4)
        for _ in 0..<64 {
            guard let box = try boxes.next() else { return }
            if box.isA("ilst") {
                var items = MP4Boxes(window, in: box)
                for _ in 0..<maximumItems {
                    guard let item = try items.next() else { break }
                    try take(item, window, into: &set)
                }
            }
        }
    }

    private static func take(
        _ item: MP4Boxes.Box, _ window: FileWindow, into set: inout TagSet
    ) throws(TrackReadingError) {
        if item.isA("----") { return try takeNamed(item, window, into: &set) }
        guard let kind = MP4Names.kind(item.type) else { return }
        var boxes = MP4Boxes(window, in: item)
        for _ in 0..<64 {
            guard let data = try boxes.next() else { return }
            guard data.isA("data") else { continue }
            let length = Int(min(data.end - data.start, Int64(kind.isPicture ? 24 : maximumValue)))
            let bytes = try window.bytes(at: data.start, count: length)
            guard bytes.count > 8 else { continue }
            take(kind, coding: bytes.big32(0) & 0xFF_FFFF, bytes.part(8), into: &set)
        }
    }

    private static func take(_ kind: MP4Names.Kind, coding: Int, _ value: ByteView, into set: inout TagSet) {
        switch kind {
        case .text(let meaning): takeText(meaning, coding: coding, value, into: &set)
        case .pair(let number): set.set(number, value.big16(2), of: value.big16(4))
        case .number(let number): set.set(number, whole(value), of: 0)
        case .count(let number): set.setCount(number, whole(value))
        case .numeric(let name): if whole(value) > 0 { set.add(name, String(whole(value))) }
        case .compilation: set.setCompilation(whole(value) != 0)
        case .podcast: if whole(value) != 0 { set.add(.podcast, "1") }
        case .genre: set.addNumberedGenre(whole(value))
        // 1 and 4: explicit, 2: a cleaned version, 0: neither.
        case .advisory: set.add(.advisory, whole(value) == 4 ? "1" : String(whole(value)))
        case .picture:
            set.addPicture(
                type: coding == 13 ? "image/jpeg" : coding == 14 ? "image/png" : PictureTypes.type(ofPicture: value))
        }
    }

    /// A text in UTF-8 (1) or UTF-16 (2); all other codings are numbers.
    private static func takeText(
        _ meaning: TagMeaning, coding: Int, _ value: ByteView, into set: inout TagSet
    ) {
        if coding == 2 {
            ID3Strings.forEach(value, encoding: 2) { set.take(meaning, $0) }
        } else if coding == 21 || coding == 22 {
            let digits = Array(String(whole(value)).utf8)
            digits.withUnsafeBufferPointer { set.take(meaning, ByteView($0.baseAddress, count: $0.count)) }
        } else {
            set.take(meaning, value)
        }
    }

    /// A whole number of up to 8 bytes, the highest first.
    private static func whole(_ value: ByteView) -> Int {
        (0..<min(value.count, 7)).reduce(0) { $0 << 8 | Int(value[$1]) }
    }

    /// A tag with a name of its own: the namespace, the name, the values.
    private static func takeNamed(
        _ item: MP4Boxes.Box, _ window: FileWindow, into set: inout TagSet
    ) throws(TrackReadingError) {
        var boxes = MP4Boxes(window, in: item)
        var meaning: TagMeaning?
        var title: String?
        for _ in 0..<64 {
            guard let box = try boxes.next() else { return }
            if box.isA("name") {
                let name = try window.bytes(at: box.start, count: Int(min(box.end - box.start, 128)))
                meaning = FieldNames.described.meaning(name.part(4))
                title = set.keepsComments ? name.part(4).text : nil
            } else if box.isA("data"), meaning != nil || title != nil {
                let value = try window.bytes(at: box.start, count: Int(min(box.end - box.start, Int64(maximumValue))))
                guard value.count > 8 else { continue }
                let coding = value.big32(0) & 0xFF_FFFF
                if let meaning { takeText(meaning, coding: coding, value.part(8), into: &set) }
                if coding == 1 { set.note(title, value.part(8), meaning) }
            }
        }
    }
}

extension TagSet {
    /// Adds the genre of this number, counted from 1 as in MP4, unless there is one.
    fileprivate mutating func addNumberedGenre(_ number: Int) {
        if number > 0, !tags.has(.genre), let name = ID3Genres.name(number - 1) { add(.genre, name) }
    }
}
