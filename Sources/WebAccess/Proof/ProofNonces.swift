import NowPlaying

/// The nonces of the box: each is good for one claim, once, for some seconds.
///
/// A nonce signs its claim and its end with a key of this process, so that an unanswered one costs no memory. Only nonces that
/// devices have used are remembered.
struct ProofNonces: Sendable {
    /// Seconds for which a nonce is good.
    static let seconds = 30.0
    /// Maximum remembered nonces of one device.
    static let deviceLimit = 1024
    /// Maximum remembered nonces of all devices.
    static let limit = 4096

    private let key: [UInt8]
    private var used: [String: (device: String, end: MonotonicTime)] = [:]

    /// Nonces with a new key.
    init(_ generator: inout some RandomNumberGenerator) { key = MessageCode.randomKey(&generator) }

    /// A new nonce for a claim.
    func make(_ claim: ProofClaim, at now: MonotonicTime, _ generator: inout some RandomNumberGenerator) -> String {
        let end = UInt64(clamping: now.advanced(bySeconds: Self.seconds).nanoseconds / 1_000_000)
        let body = withUnsafeBytes(of: end.bigEndian) { Array($0) } + MessageCode.randomKey(&generator).prefix(16)
        return Base64URL.text(body + signature(body, claim))
    }

    /// The end of a nonce that was made for this claim; nil: it is forged, used or too old.
    func end(of nonce: String, _ claim: ProofClaim, at now: MonotonicTime) -> MonotonicTime? {
        guard let bytes = Base64URL.bytes(nonce), bytes.count == 40,
            SecretText.isEqual(Array(bytes[24...]), signature(Array(bytes[..<24]), claim)), used[nonce] == nil
        else { return nil }
        let milliseconds = bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let end = MonotonicTime(seconds: Double(milliseconds) / 1000)
        return now < end ? end : nil
    }

    /// Remembers a nonce that its device has used. False: the device, or all of them, have used too many.
    mutating func use(_ nonce: String, _ claim: ProofClaim, end: MonotonicTime, at now: MonotonicTime) -> Bool {
        if used.count >= Self.deviceLimit { used = used.filter { now < $0.value.end } }
        guard used.count < Self.limit, used.values.count(where: { $0.device == claim.device }) < Self.deviceLimit else {
            return false
        }
        used[nonce] = (claim.device, end)
        return true
    }

    private func signature(_ body: [UInt8], _ claim: ProofClaim) -> [UInt8] {
        Array(MessageCode.code(key, Array("nowplaying-web nonce 1\n".utf8) + body + Array(claim.text.utf8)).prefix(16))
    }
}
