import NowPlaying

/// Times and numbers in the form for people.
package enum ClockText {
    /// Parses `83`, `83.5`, `1:23.5`, `1:02:03`: seconds, not negative. Nil: it is none of these; minutes and seconds
    /// after a colon must be below 60.
    package static func seconds(_ text: some StringProtocol) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), let last = parts.last, let ending = decimal(last) else { return nil }
        var whole = 0.0
        for (index, part) in parts.dropLast().enumerated() {
            guard let number = integer(part), index == 0 || number < 60 else { return nil }
            whole = whole * 60 + Double(number)
        }
        guard parts.count == 1 || ending < 60 else { return nil }
        return whole * 60 + ending
    }

    /// Formats whole seconds, rounded down: `0:07`, `1:23`, `1:02:03`. Negative times count as 0.
    package static func clock(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e12 else { return "--:--" }
        let whole = Int64(clamping: max(0, seconds))
        let tail = ":" + padded(whole % 60)
        return whole >= 3600
            ? "\(whole / 3600):" + padded(whole / 60 % 60) + tail
            : "\(whole / 60)" + tail
    }

    /// Formats a number without exponent: at most `places` decimals, no zeros at the end.
    package static func number(_ value: Double, places: Int = 6) -> String {
        guard value.isFinite, abs(value) < 9e15 else { return value.isFinite ? "\(value)" : "" }
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        var whole = abs(value).rounded(.down)
        var fraction = ((abs(value) - whole) * scale).rounded()
        if fraction >= scale {
            whole += 1
            fraction = 0
        }
        var digits = ""
        if fraction > 0 {
            digits = String(Int64(clamping: fraction))
            digits = "." + String(repeating: "0", count: places - digits.utf8.count) + digits
            while digits.hasSuffix("0") { digits.removeLast() }
        }
        let sign = value < 0 && (whole > 0 || fraction > 0) ? "-" : ""
        return sign + String(Int64(whole)) + digits
    }

    /// Parses digits with an optional decimal point; no sign, no exponent.
    package static func decimal(_ text: some StringProtocol) -> Double? {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count <= 32, bytes.contains(where: isDigit),
            bytes.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        // Swift parses neither ".5" nor "5.".
        return Double("0" + text + (text.hasSuffix(".") ? "0" : ""))
    }

    /// Parses digits only.
    package static func integer(_ text: some StringProtocol) -> Int? {
        text.utf8.allSatisfy(isDigit) ? Int(text) : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
