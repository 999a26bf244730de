/// Lines of text in bytes. A line end in a value becomes a space, so that no text from a file can forge a line.
struct LineBytes {
    private(set) var bytes: [UInt8] = []

    private static let lineFeed = UInt8(ascii: "\n")
    private static let space = UInt8(ascii: " ")
    private static let zero = UInt8(ascii: "0")

    /// Reserves memory for this number of bytes.
    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    /// Removes all bytes, but keeps the memory.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends a part of a line without line ends.
    mutating func append(_ clean: [UInt8]) { bytes += clean }

    /// Appends a range of text that is already in lines.
    mutating func append(_ clean: [UInt8], _ part: Range<Int>) {
        clean.withUnsafeBufferPointer { bytes.append(contentsOf: UnsafeBufferPointer(rebasing: $0[part])) }
    }

    /// Ends a line.
    mutating func endLine() { bytes.append(Self.lineFeed) }

    /// Appends a text from a file.
    mutating func text(_ text: UnsafeRawBufferPointer) {
        let start = bytes.count
        bytes.append(contentsOf: text)
        for index in text.indices where Self.endsLine(text[index]) { bytes[start + index] = Self.space }
    }

    /// Appends a text from a file.
    mutating func text(_ text: String) {
        var text = text
        text.withUTF8 { self.text(UnsafeRawBufferPointer($0)) }
    }

    private static func endsLine(_ byte: UInt8) -> Bool {
        byte <= UInt8(ascii: "\r") && (byte == lineFeed || byte == UInt8(ascii: "\r") || byte == 0)
    }

    /// Appends a whole number.
    mutating func number(_ number: Int64) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        digits(number.magnitude, atLeast: 1)
    }

    /// Appends seconds with three decimals.
    mutating func seconds(milliseconds: Int64) {
        let whole = UInt64(max(0, milliseconds))
        digits(whole / 1000, atLeast: 1)
        bytes.append(UInt8(ascii: "."))
        digits(whole % 1000, atLeast: 3)
    }

    /// Appends a time in UTC, such as `2026-11-23T22:30:00Z`. `unix`: seconds since 1970, up to the year 9999. `day`:
    /// the day of the previous time, which many times share.
    mutating func time(_ unix: Int64, _ day: inout DayText) {
        // From the first second of the year 0 on.
        let seconds = UInt64(max(-62_167_219_200, min(unix, 253_402_300_799)) + 62_167_219_200)
        if seconds / 86_400 != day.number { day = DayText(seconds / 86_400) }
        bytes += day.text
        let rest = seconds % 86_400
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 9) { clock in
            Self.two(rest / 3600, clock, 0)
            Self.two(rest / 60 % 60, clock, 3)
            Self.two(rest % 60, clock, 6)
            clock[2] = UInt8(ascii: ":")
            clock[5] = UInt8(ascii: ":")
            clock[8] = UInt8(ascii: "Z")
            bytes.append(contentsOf: UnsafeBufferPointer(clock))
        }
    }

    private static func two(_ number: UInt64, _ target: UnsafeMutableBufferPointer<UInt8>, _ index: Int) {
        target[index] = zero + UInt8(number / 10)
        target[index + 1] = zero + UInt8(number % 10)
    }

    /// Appends at least two digits after a separator.
    fileprivate mutating func part(_ separator: Unicode.Scalar, _ number: UInt64) {
        bytes.append(UInt8(ascii: separator))
        digits(number, atLeast: 2)
    }

    fileprivate mutating func digits(_ number: UInt64, atLeast width: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = digits.count
            var rest = number
            while rest > 0 || digits.count - start < width {
                start -= 1
                digits[start] = Self.zero + UInt8(rest % 10)
                rest /= 10
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
        }
    }
}

/// The text of a day at the start of times: `2026-11-23T`.
struct DayText {
    /// Days since the first day of the year 0; nil: no day yet.
    let number: UInt64?
    let text: [UInt8]

    /// No day yet.
    init() {
        number = nil
        text = []
    }

    /// The day `number` days after the first day of the year 0.
    init(_ number: UInt64) {
        // Years begin in March here, so that the leap day is their last: each era of 400 years has 146,097 days.
        let days = number + 146_097 - 60
        let (era, dayOfEra) = (days / 146_097, days % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        var line = LineBytes()
        line.digits(era * 400 + yearOfEra + (month <= 2 ? 1 : 0) - 400, atLeast: 4)
        line.part("-", month)
        line.part("-", dayOfYear - (153 * shifted + 2) / 5 + 1)
        self.number = number
        text = line.bytes + [UInt8(ascii: "T")]
    }
}
