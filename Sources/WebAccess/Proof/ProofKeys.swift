import ControlProtocol

/// The keys that a device and the box derive from the digest of the device's token.
///
/// The box keeps only the digest, and the token does not leave the device. The construction is that of SCRAM (RFC 5802): the
/// box shows that it knows the digest by an HMAC. The device sends its token under a mask, an HMAC that nobody can make
/// without the digest. The box lifts the mask and compares digests. So the file of the devices lets nobody pose as a device.
struct ProofKeys: Sendable {
    private let box: [UInt8]
    private let device: [UInt8]
    /// The public name of the keys: 32 hexadecimal digits, from which nobody learns the digest.
    let name: String

    private static let domain = "nowplaying-web proof 1\n"

    /// The keys for a digest of a token: 64 hexadecimal digits.
    init(digest: String) {
        let secret = Array(digest.utf8)
        func derived(_ purpose: String) -> [UInt8] { MessageCode.code(secret, Array((Self.domain + purpose).utf8)) }
        box = derived("key of the box")
        device = derived("key of the device")
        name = DeviceToken.hexadecimal(Array(derived("name").prefix(16)))
    }

    /// The proof of the box for a claim. `role`: the rights that the device gets; `nonce`: that of the box.
    func boxProof(_ claim: ProofClaim, _ role: Role, nonce: String) -> [UInt8] {
        MessageCode.code(box, Self.message("box", claim, role, nonce))
    }

    /// The token that the proof of a device contains, if the proof is right.
    func token(in proof: [UInt8], _ claim: ProofClaim, _ role: Role, nonce: String) -> String {
        let mask = MessageCode.code(device, Self.message("device", claim, role, nonce))
        return Base64URL.text(zip(proof, mask).map { $0 ^ $1 })
    }

    private static func message(_ side: String, _ claim: ProofClaim, _ role: Role, _ nonce: String) -> [UInt8] {
        Array((domain + side + "\n" + role.rawValue + "\n" + claim.text + nonce + "\n").utf8)
    }
}
