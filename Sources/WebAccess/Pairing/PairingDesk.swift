import ControlProtocol
import NowPlaying

/// The single open pairing code, as a state machine: no I/O, and time is an argument.
struct PairingDesk: Sendable {
    /// A code that a device may use.
    struct Code: Equatable, Sendable {
        /// Eight decimal digits.
        let digits: String
        /// The role of the device that uses it.
        let role: Role
        let expires: MonotonicTime
        /// Wrong guesses so far, by their sources. They are fewer than `maximumWrong`.
        fileprivate var wrong: [String: Int] = [:]
    }

    /// Result of a guess.
    enum Guess: Equatable, Sendable {
        /// The code is right and used up.
        case right(Role)
        case wrong
        /// The guess exceeded the limit: the code is void.
        case tooMany
        /// No code is open.
        case none
    }

    private(set) var open: Code?

    /// Wrong guesses of all sources that make a code void: one in a million finds it.
    static let maximumWrong = 100
    /// Wrong guesses of one source. Further ones do not count, and its right ones are wrong: alone, it makes no code void.
    static let maximumOfSource = 5
    /// Maximum seconds of a code.
    static let seconds = 1.0...300.0

    /// Opens a code in place of the previous one.
    mutating func begin(
        _ role: Role, seconds: Double, at now: MonotonicTime, _ generator: inout some RandomNumberGenerator
    ) -> Code {
        let number = String(UInt32.random(in: 0..<100_000_000, using: &generator))
        let code = Code(
            digits: String(repeating: "0", count: 8 - number.utf8.count) + number, role: role,
            expires: now.advanced(bySeconds: min(max(seconds, Self.seconds.lowerBound), Self.seconds.upperBound)))
        open = code
        return code
    }

    /// Judges a guess of a source. Spaces and hyphens between its digits don't count.
    mutating func take(_ guess: String, from source: String, at now: MonotonicTime) -> Guess {
        guard !expire(at: now), var code = open else { return .none }
        guard code.wrong[source, default: 0] < Self.maximumOfSource else { return .wrong }
        let digits = guess.utf8.prefix(64).filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "-") }
        if SecretText.isEqual(digits, Array(code.digits.utf8)) {
            open = nil
            return .right(code.role)
        }
        code.wrong[source, default: 0] += 1
        open = code.wrong.values.reduce(0, +) < Self.maximumWrong ? code : nil
        return open == nil ? .tooMany : .wrong
    }

    /// Closes an expired code; true: it has just expired.
    mutating func expire(at now: MonotonicTime) -> Bool {
        guard let code = open, code.expires <= now else { return false }
        open = nil
        return true
    }
}
