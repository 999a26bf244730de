package import ControlProtocol
import NowPlaying

/// A paired device.
package struct Device: Equatable, Sendable {
    /// 16 hexadecimal digits.
    package let id: String
    /// The name that the device gave itself, without control characters.
    package let name: String
    package let role: Role
    /// Unix time of its pairing, in seconds.
    package let paired: Double
    /// Unix time of its last use, in seconds.
    package internal(set) var lastUsed: Double
    /// The digest of its token.
    let digest: String
    /// The keys of its proofs.
    let keys: ProofKeys

    /// The digest of a revoked device, which no token has.
    static let struckDigest = String(repeating: "0", count: 64)

    /// Maximum characters of a name.
    static let nameLimit = 64

    /// A device, by its parts.
    init(id: String, name: String, role: Role, paired: Double, lastUsed: Double, digest: String) {
        self.id = id
        let name = PrintableText.stripped(name, limit: Self.nameLimit)
        self.name = name.isEmpty ? "device" : name
        self.role = role
        self.paired = paired
        self.lastUsed = lastUsed
        self.digest = digest
        keys = ProofKeys(digest: digest)
    }

    /// Two devices are equal if their records are.
    package static func == (a: Device, b: Device) -> Bool { a.record == b.record }

    /// For lists: everything except the digest.
    package var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "role": .string(role.rawValue), "paired": .number(paired),
            "lastUsed": .number(lastUsed),
        ]
    }

    /// For the file.
    var record: JSONValue {
        guard case .object(var members) = json else { return json }
        members["digest"] = .string(digest)
        return .object(members)
    }

    /// A device of the file; nil: it is damaged.
    init?(record: JSONValue) {
        guard let id = record["id"]?.stringValue, Self.isHexadecimal(id, 16),
            let name = record["name"]?.stringValue, let role = record["role"]?.stringValue.flatMap(Role.init),
            role <= .control, let paired = record["paired"]?.doubleValue,
            let lastUsed = record["lastUsed"]?.doubleValue, let digest = record["digest"]?.stringValue,
            Self.isHexadecimal(digest, 64)
        else { return nil }
        self.init(id: id, name: name, role: role, paired: paired, lastUsed: lastUsed, digest: digest)
    }

    /// True for a number of hexadecimal digits in lower case.
    static func isHexadecimal(_ text: String, _ count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
