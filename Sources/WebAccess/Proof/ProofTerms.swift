package import ControlProtocol
import Glibc

/// The facts for which both ends of a proof vouch. A device makes its claim before the box answers.
package struct ProofClaim: Equatable, Sendable {
    /// The relation of the dialled address to the box.
    package enum Way: String, Sendable {
        /// The address is that end of the connection which the box has.
        case own
        /// The owner has confirmed the address to the device, as address translation leads from it to the box.
        case confirmed
    }

    /// The public name of the device's key: 32 hexadecimal digits.
    let device: String
    /// The address and the port that the device has dialled.
    let address: HostName
    package let way: Way
    /// The nonce of the device: 32 bytes in Base64.
    let sent: String

    /// Reads the members `device`, `address`, `way` and `sent`; nil: one is missing or has another form.
    package init?(_ member: (String) -> String?) {
        guard let device = member("device"), Device.isHexadecimal(device, 32), let text = member("address"),
            let address = HostName(text), address.isLiteral, let port = address.port,
            "\(address.bracketed):\(port)" == text, let way = member("way").flatMap(Way.init),
            let sent = member("sent"), Base64URL.bytes(sent)?.count == 32
        else { return nil }
        self.device = device
        self.address = address
        self.way = way
        self.sent = sent
    }

    /// The claim in one line for each fact. No fact has a line end.
    var text: String { "\(device)\n\(way.rawValue)\n\(address.bracketed):\(address.port ?? 0)\n\(sent)\n" }
}

/// The header with which a device completes a proof: `Authorization: Proof device=…,address=…,way=…,sent=…,nonce=…,proof=…`.
struct ProofWords: Equatable, Sendable {
    let claim: ProofClaim
    /// The nonce of the box.
    let nonce: String
    /// 32 bytes.
    let proof: [UInt8]

    /// Reads the header after its scheme; nil: it is malformed.
    init?(_ text: String) {
        guard text.utf8.count <= 512 else { return nil }
        var members: [String: String] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2, members.updateValue(String(words[1]), forKey: String(words[0])) == nil else {
                return nil
            }
        }
        guard members.count == 6, let claim = ProofClaim({ members[$0] }), let nonce = members["nonce"],
            let proof = members["proof"].flatMap(Base64URL.bytes), proof.count == 32
        else { return nil }
        self.claim = claim
        self.nonce = nonce
        self.proof = proof
    }
}

/// The answer of the box to a claim.
package enum ProofAnswer: Equatable, Sendable {
    /// 200 with `{nonce, role, proof}`: the proof of the box, and the nonce for that of the device.
    case proven(nonce: String, role: Role, proof: String)
    /// 409: the claimed address is not that of this end of the connection.
    case elsewhere
    /// 401, after this many seconds: no device has this key.
    case refused(after: Double)
}
