/// A question for the addresses of a name that ends in `.local`, and the parser of its answers. The hosts of the local
/// network answer such questions themselves (multicast DNS, RFC 6762 §5.1).
package struct MulticastName {
    private let labels: [[UInt8]]
    /// Identifier of the question, which its answers repeat.
    private let number: UInt16

    /// A question about this name; nil: the name does not end in `.local` or is invalid. `number`: any.
    package init?(_ host: String, number: UInt16) {
        let labels = host.lowercased().split(separator: ".").map { Array($0.utf8) }
        guard labels.count >= 2, labels.last == Array("local".utf8), labels.allSatisfy({ $0.count <= 63 }),
            host.utf8.count <= 250
        else { return nil }
        self.labels = labels
        self.number = number
    }

    private static let ipv4: UInt16 = 1
    private static let ipv6: UInt16 = 28
    private static let internet: UInt16 = 1

    /// The message that asks for the IPv4 and IPv6 addresses.
    package var question: [UInt8] {
        let name: [UInt8] = labels.flatMap { [UInt8($0.count)] + $0 } + [0]
        var message: [UInt8] = ([number, 0, 2, 0, 0, 0] as [UInt16]).flatMap { Self.bytes($0) }
        for type in [Self.ipv4, Self.ipv6] { message += name + Self.bytes(type) + Self.bytes(Self.internet) }
        return message
    }

    private static func bytes(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

    /// The addresses of the name in a message, 4 or 16 bytes each; empty if it does not answer the question.
    package func addresses(in message: [UInt8]) -> [[UInt8]] {
        var reader = Reader(message)
        guard let own = reader.number(), own == number, let flags = reader.number(), flags & 0x8000 != 0,
            let questions = reader.number(), let answers = reader.number(), let authorities = reader.number(),
            let more = reader.number()
        else { return [] }
        for _ in 0..<questions { guard reader.name() != nil, reader.skip(4) else { return [] } }
        var found: [[UInt8]] = []
        for _ in 0..<(Int(answers) + Int(authorities) + Int(more)) {
            guard let name = reader.name(), let type = reader.number(), let kind = reader.number(), reader.skip(4),
                let length = reader.number(), let data = reader.bytes(Int(length))
            else { break }
            // The highest bit of the class says that the answer is complete.
            guard name == labels, kind & 0x7FFF == Self.internet else { continue }
            if type == Self.ipv4 && data.count == 4 || type == Self.ipv6 && data.count == 16 { found.append(data) }
        }
        return found
    }

    private struct Reader {
        private let message: [UInt8]
        private var offset = 0

        init(_ message: [UInt8]) { self.message = message }

        mutating func bytes(_ count: Int) -> [UInt8]? {
            guard offset + count <= message.count else { return nil }
            defer { offset += count }
            return Array(message[offset..<offset + count])
        }

        mutating func skip(_ count: Int) -> Bool { bytes(count) != nil }

        mutating func number() -> UInt16? { bytes(2).map { UInt16($0[0]) << 8 | UInt16($0[1]) } }

        /// A name in small letters (RFC 1035 §4.1.4): its end may refer to an earlier name.
        mutating func name() -> [[UInt8]]? {
            var labels: [[UInt8]] = []
            var at = offset
            var isElsewhere = false
            // The longest name has fewer labels.
            for _ in 0..<128 {
                guard at < message.count else { return nil }
                let length = Int(message[at])
                at += 1
                if length == 0 {
                    if !isElsewhere { offset = at }
                    return labels
                }
                if length >= 0xC0 {
                    guard at < message.count else { return nil }
                    if !isElsewhere { offset = at + 1 }
                    isElsewhere = true
                    at = (length & 0x3F) << 8 | Int(message[at])
                    continue
                }
                guard length <= 63, at + length <= message.count else { return nil }
                labels.append(message[at..<at + length].map { (65...90).contains($0) ? $0 + 32 : $0 })
                at += length
            }
            return nil
        }
    }
}
