import NowPlaying

/// Rare numbers of a track in one blob: the key and the value of each as varints; a value is a zigzag number.
enum TrackNumbersBlob {
    private enum Key: UInt8, CaseIterable {
        case trackCount = 1
        case discCount, movementNumber, movementCount, chapterCount
        case trackGain, trackPeak, albumGain, albumPeak
    }

    /// Milliseconds of a duration; nil: it is invalid.
    static func milliseconds(_ seconds: Double?) -> Int64? {
        guard let seconds, seconds >= 0, seconds.isFinite else { return nil }
        return Int64(clamping: min((seconds * 1000).rounded(), 0x1p52))
    }

    /// The numbers of a record; NULL: it has none.
    static func pack(_ record: TrackRecord) -> SQLiteValue {
        var values: [(tag: UInt8, value: Int64)] = []
        for key in Key.allCases {
            guard let value = value(key, record) else { continue }
            values.append((key.rawValue, value >= 0 ? value << 1 : ~(value << 1)))
        }
        return values.isEmpty ? .null : .blob(PackedValues.pack(values))
    }

    private static func value(_ key: Key, _ record: TrackRecord) -> Int64? {
        switch key {
        case .trackCount: bounded(record.numbers.trackCount)
        case .discCount: bounded(record.numbers.discCount)
        case .movementNumber: bounded(record.numbers.movementNumber)
        case .movementCount: bounded(record.numbers.movementCount)
        case .chapterCount: bounded(record.numbers.chapterCount)
        case .trackGain: scaled(record.loudness.trackGain, 1e2)
        case .trackPeak: scaled(record.loudness.trackPeak, 1e6)
        case .albumGain: scaled(record.loudness.albumGain, 1e2)
        case .albumPeak: scaled(record.loudness.albumPeak, 1e6)
        }
    }

    private static func bounded(_ value: Int64?) -> Int64? { value.map { min(max($0, -(1 << 40)), 1 << 40) } }

    private static func scaled(_ value: Double?, _ scale: Double) -> Int64? {
        guard let value, value.isFinite else { return nil }
        return bounded(Int64(clamping: (value * scale).rounded()))
    }

    /// The number of the movement in a blob; nil: it has none.
    static func movementNumber(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        var found: Int64?
        for (tag, zigzag) in PackedValues(bytes) where tag == Key.movementNumber.rawValue { found = number(zigzag) }
        return found
    }

    /// True if a blob has a gain of the track or of the album.
    static func hasGain(_ bytes: UnsafeRawBufferPointer) -> Bool {
        PackedValues(bytes).contains { $0.tag == Key.trackGain.rawValue || $0.tag == Key.albumGain.rawValue }
    }

    private static func number(_ zigzag: Int64) -> Int64 { zigzag & 1 == 0 ? zigzag >> 1 : ~(zigzag >> 1) }

    /// Sets the numbers of a record.
    static func unpack(_ bytes: [UInt8], to record: inout TrackRecord) {
        for (tag, zigzag) in PackedValues.unpack(bytes) {
            guard let key = Key(rawValue: tag) else { continue }
            let value = number(zigzag)
            switch key {
            case .trackCount: record.numbers.trackCount = value
            case .discCount: record.numbers.discCount = value
            case .movementNumber: record.numbers.movementNumber = value
            case .movementCount: record.numbers.movementCount = value
            case .chapterCount: record.numbers.chapterCount = value
            case .trackGain: record.loudness.trackGain = Double(value) / 1e2
            case .trackPeak: record.loudness.trackPeak = Double(value) / 1e6
            case .albumGain: record.loudness.albumGain = Double(value) / 1e2
            case .albumPeak: record.loudness.albumPeak = Double(value) / 1e6
            }
        }
    }
}
