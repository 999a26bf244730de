import NowPlaying

/// The heads of messages of Snapcast's stream protocol (doc/binary_protocol.md of Snapcast), least significant byte
/// first.
struct SnapcastMessage: Equatable {
    /// Numbers of the known messages.
    enum Kind: UInt16 {
        case codecHeader = 1
        case wireChunk = 2
        case serverSettings = 3
        case time = 4
        case hello = 5
    }

    /// Bytes of a head.
    static let headLength = 26
    /// Maximum bytes of a message that is read.
    static let longest = 1 << 20

    /// Number of the message, which may be unknown.
    let kind: UInt16
    /// Instant at which it was sent, on the sender's clock.
    let sent: MonotonicTime
    /// Bytes after the head.
    let length: Int

    /// Reads a head; nil: it is invalid, or announces a message that is too long.
    init?(_ head: [UInt8]) {
        guard head.count == Self.headLength else { return nil }
        kind = UInt16(head[0]) | UInt16(head[1]) << 8
        sent = Self.time(head[6..<14])
        length = Int(Self.number(head[22..<26]))
        guard length <= Self.longest else { return nil }
    }

    /// The bytes of a message.
    static func bytes(_ kind: Kind, _ payload: [UInt8], sent: MonotonicTime) -> [UInt8] {
        let (seconds, rest) = sent.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let times = [UInt32(truncatingIfNeeded: seconds), UInt32(rest / 1000), 0, 0, UInt32(payload.count)]
        return little(UInt32(kind.rawValue)) + [0, 0] + times.flatMap(little) + payload
    }

    /// A text after its length.
    static func lengthFirst(_ text: String) -> [UInt8] { little(UInt32(text.utf8.count)) + Array(text.utf8) }

    /// The text after its length; nil: the message is shorter.
    static func text(_ payload: [UInt8]) -> String? {
        guard payload.count >= 4 else { return nil }
        let length = Int(number(payload[0..<4]))
        guard length <= payload.count - 4 else { return nil }
        return String(decoding: payload[4..<(4 + length)], as: UTF8.self)
    }

    /// Reads signed seconds and microseconds.
    static func time(_ bytes: ArraySlice<UInt8>) -> MonotonicTime {
        let seconds = Int32(bitPattern: number(bytes.prefix(4)))
        let micros = Int32(bitPattern: number(bytes.suffix(4)))
        return MonotonicTime(nanoseconds: Int64(seconds) * 1_000_000_000 + Int64(micros) * 1000)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func little(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
