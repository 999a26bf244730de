/// Numbers in arguments. Each function throws MPD's message for an argument that is not its kind of number.
extension Argument {
    /// 0 or 1.
    package func flag() throws(MPDFailure) -> Bool {
        guard case .whole(let number) = Whole(bytes), number == 0 || number == 1 else {
            throw fault("Boolean (0/1) expected")
        }
        return number == 1
    }

    /// A whole number of this range.
    package func number(
        _ range: ClosedRange<Int> = Int(Int32.min)...Int(Int32.max)
    ) throws(MPDFailure) -> Int {
        switch Whole(bytes) {
        case .none: throw fault("Integer expected")
        case .tooLarge: throw fault("Number too large")
        case .whole(let number):
            guard range.contains(number) else { throw fault("Number too large") }
            return number
        }
    }

    /// A whole number from 0 to `limit`.
    package func count(upTo limit: Int = Int(UInt32.max)) throws(MPDFailure) -> Int { try number(0...max(0, limit)) }

    /// `5`, `2:5` (the end is exclusive), `2:` (to the end), or `-1` (everything).
    package func range() throws(MPDFailure) -> MPDRange {
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        let head = bytes[..<(colon ?? bytes.count)]
        let lower = try bound(head)
        guard let colon else {
            if lower == -1 { return .all }
            guard lower >= 0 else { throw fault("Number is negative") }
            return MPDRange(lower, lower + 1)
        }
        guard lower >= 0 else { throw fault("Number is negative") }
        let tail = bytes[(colon + 1)...]
        if tail.isEmpty { return MPDRange(lower, nil) }
        let upper = try bound(tail)
        guard upper >= 0 else { throw fault("Number is negative") }
        guard upper >= lower else { throw fault("Malformed range") }
        return MPDRange(lower, upper)
    }

    private func bound(_ digits: ArraySlice<UInt8>) throws(MPDFailure) -> Int {
        switch Whole(Array(digits)) {
        case .none: throw fault("Integer or range expected")
        case .tooLarge: throw fault("Number too large")
        case .whole(let number):
            guard number <= Int(Int32.max) else { throw fault("Number too large") }
            return number
        }
    }

    /// Seconds, 0 or more.
    package func seconds() throws(MPDFailure) -> Double {
        let value = try signedSeconds()
        guard value >= 0 else { throw fault("Negative value not allowed") }
        return value
    }

    /// Seconds, which may be negative.
    package func signedSeconds() throws(MPDFailure) -> Double {
        guard let value = Double(text), value.isFinite, bytes.first.map({ !ASCII.isSpace($0) }) == true else {
            throw fault("Float expected")
        }
        return value
    }

    /// A decimal number, or `nan`.
    package func decimal() throws(MPDFailure) -> Double {
        guard let value = Double(text), !value.isInfinite, bytes.first.map({ !ASCII.isSpace($0) }) == true else {
            throw fault("Float expected")
        }
        return value
    }

    /// The failure of this argument.
    package func fault(_ message: String) -> MPDFailure { MPDFailure(.argument, "\(message): \(text)") }
}

/// A whole number in decimal digits; nil: the text is not one.
private enum Whole {
    case none
    case tooLarge
    case whole(Int)

    init(_ bytes: [UInt8]) {
        let sign = bytes.first.flatMap { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") ? $0 : nil }
        let digits = bytes[(sign == nil ? 0 : 1)...]
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else {
            self = .none
            return
        }
        self = Int(String(decoding: bytes, as: UTF8.self)).map { .whole($0) } ?? .tooLarge
    }
}
