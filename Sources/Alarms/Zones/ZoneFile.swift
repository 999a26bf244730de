/// The reader of zone files: TZif of RFC 9636, all versions. Pure; its time and memory are bounded by the length of the
/// file.
package enum ZoneFile {
    /// Maximum bytes of a file; those of tzdata have up to 4 KiB.
    package static let limit = 64 << 10

    /// Numbers of elements, in the order of the header.
    private struct Counts {
        var indicatorsUT = 0
        var indicatorsStandard = 0
        var leapSeconds = 0
        var times = 0
        var types = 0
        var designations = 0

        /// Bytes of the block of data; `width`: bytes of a time.
        func bytes(_ width: Int) -> Int {
            times * (width + 1) + types * 6 + designations + leapSeconds * (width + 4) + indicatorsStandard
                + indicatorsUT
        }
    }

    /// Reads a whole file.
    package static func read(_ bytes: [UInt8]) throws(ZoneFileError) -> ZoneRules {
        guard bytes.count <= limit else { throw .tooLong }
        var reader = ZoneFileReader(bytes)
        var (version, counts) = try readHeader(&reader)
        guard version != 0 else { return try readBlock(&reader, counts, width: 4, hasRule: false) }
        // The block of 32-bit times is for readers of version 1; it may be empty or wrong.
        try reader.skip(counts.bytes(4), .header)
        (version, counts) = try readHeader(&reader)
        return try readBlock(&reader, counts, width: 8, hasRule: true)
    }

    private static func readHeader(_ reader: inout ZoneFileReader) throws(ZoneFileError) -> (
        version: UInt8, counts: Counts
    ) {
        for byte in "TZif".utf8 {
            guard try reader.byte(.header) == byte else { throw .otherFormat }
        }
        let version = try reader.byte(.header)
        try reader.skip(15, .header)
        var counts = Counts()
        counts.indicatorsUT = try reader.count()
        counts.indicatorsStandard = try reader.count()
        counts.leapSeconds = try reader.count()
        counts.times = try reader.count()
        counts.types = try reader.count()
        counts.designations = try reader.count()
        return (version, counts)
    }

    private static func readBlock(
        _ reader: inout ZoneFileReader, _ counts: Counts, width: Int, hasRule: Bool
    ) throws(ZoneFileError) -> ZoneRules {
        guard (1...256).contains(counts.types) else { throw .wrongCount(.offsets) }
        guard counts.designations > 0 else { throw .wrongCount(.designations) }
        guard [0, counts.types].contains(counts.indicatorsUT), [0, counts.types].contains(counts.indicatorsStandard)
        else { throw .wrongCount(.indicators) }
        var changes = try reader.times(counts.times, width)
        guard areAscending(changes) else { throw .disordered(.times) }
        let types = try reader.bytes(counts.times, .types)
        var offsets: [Int32] = []
        for _ in 0..<counts.types {
            let offset = try reader.signed32(.offsets)
            guard Int64(offset.magnitude) < ZoneRules.offsetLimit, try reader.byte(.offsets) <= 1,
                try reader.byte(.offsets) < counts.designations
            else { throw .outOfRange(.offsets) }
            offsets.append(offset)
        }
        try reader.skip(counts.designations, .designations)
        changes = try withoutLeapSeconds(changes, &reader, counts.leapSeconds, width)
        try reader.skip(counts.indicatorsStandard + counts.indicatorsUT, .indicators)
        // Before the first transition the first type applies.
        var sequence = [offsets[0]]
        for type in types {
            guard type < counts.types else { throw .outOfRange(.types) }
            sequence.append(offsets[Int(type)])
        }
        return ZoneRules(changes: changes, offsets: sequence, rule: hasRule ? try readRule(&reader) : nil)
    }

    /// Reads the leap seconds, and takes them out of times that count them.
    private static func withoutLeapSeconds(
        _ times: [Int64], _ reader: inout ZoneFileReader, _ count: Int, _ width: Int
    ) throws(ZoneFileError) -> [Int64] {
        guard count > 0 else { return times }
        var instants: [Int64] = []
        var corrections: [Int64] = []
        for _ in 0..<count {
            instants.append(try reader.time(width, .leapSeconds))
            corrections.append(Int64(try reader.signed32(.leapSeconds)))
        }
        guard areAscending(instants) else { throw .disordered(.leapSeconds) }
        var known = 0
        var result: [Int64] = []
        for time in times {
            while known < count, instants[known] <= time { known += 1 }
            let (instant, isTooFar) = time.subtractingReportingOverflow(known > 0 ? corrections[known - 1] : 0)
            guard !isTooFar else { throw .outOfRange(.leapSeconds) }
            result.append(instant)
        }
        guard areAscending(result) else { throw .disordered(.times) }
        return result
    }

    /// The rule between two ends of lines; nil: the file has none.
    private static func readRule(_ reader: inout ZoneFileReader) throws(ZoneFileError) -> YearlyRule? {
        guard try reader.byte(.rule) == UInt8(ascii: "\n") else { throw .wrongRule(byte: 0) }
        var text: [UInt8] = []
        while case let byte = try reader.byte(.rule), byte != UInt8(ascii: "\n") { text.append(byte) }
        return text.isEmpty ? nil : try RuleReader.read(text)
    }

    private static func areAscending(_ numbers: [Int64]) -> Bool {
        zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
    }
}
