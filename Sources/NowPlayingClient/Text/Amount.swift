/// A position or a change in the form for people, after `seek`, `skip` and `volume`.
package enum Amount: Equatable, Sendable {
    /// From the beginning, in seconds, or in percent of the volume.
    case absolute(Double)
    /// From the present value; negative goes back.
    case relative(Double)
    /// 0…1 of the whole.
    case fraction(Double)
    /// 0…1 of the whole, from the present value; negative goes back.
    case relativeFraction(Double)

    /// Parses a time: `83`, `1:23.5`, `50%`, and these with a sign before (`+10`, `-1:00`, `+5%`) or after (`10+`,
    /// `10-`, as in playerctl). Nil: it is none of these.
    package init?(time text: String) {
        guard let (sign, body) = Amount.split(text) else { return nil }
        if body.hasSuffix("%") {
            guard let percent = ClockText.decimal(body.dropLast()), percent <= 100 else { return nil }
            self = sign.map { .relativeFraction($0 * percent / 100) } ?? .fraction(percent / 100)
        } else {
            guard let seconds = ClockText.seconds(body) else { return nil }
            self = sign.map { .relative($0 * seconds) } ?? .absolute(seconds)
        }
    }

    /// Parses a volume in percent: `50`, `50%`, `+5`, `-5`, `5+`, `5-`. Nil: it is none of these, or a fraction without
    /// `%`, because `0.5` may mean 50 %.
    package init?(percent text: String) {
        guard let (sign, body) = Amount.split(text) else { return nil }
        let digits = body.hasSuffix("%") ? body.dropLast() : body
        guard body.hasSuffix("%") || !body.contains(".") else { return nil }
        guard let percent = ClockText.decimal(digits) else { return nil }
        self = sign.map { .relative($0 * percent) } ?? .absolute(percent)
    }

    /// Splits the sign, before or after the text, from the text.
    private static func split(_ text: String) -> (sign: Double?, body: Substring)? {
        let signs: [Character: Double] = ["+": 1, "-": -1]
        if let first = text.first, let sign = signs[first] { return (sign, text.dropFirst()) }
        if let last = text.last, let sign = signs[last] { return (sign, text.dropLast()) }
        return text.isEmpty ? nil : (nil, Substring(text))
    }
}
