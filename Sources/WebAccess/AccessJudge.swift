package import BridgeRuntime
import ControlProtocol
package import LinuxSystem
package import NowPlaying

/// Judges each request: its host, its origin, its caller. Keeps the paired devices.
///
/// `nowplaying-web` calls `judge` first for every request, and answers by the verdict. Time is an argument, so no function
/// waits. The file of the devices is the only I/O.
@PlayerLoop package final class AccessJudge {
    /// Called with the id of a device that has lost its access: its connections must end at once.
    package var onRevocation: (@PlayerLoop (_ id: String) -> Void)?
    /// Called when the open pairing code has ended.
    var onPairingEnd: (@PlayerLoop (PairingEnd) -> Void)?

    private let store: DeviceStore
    private let write: @PlayerLoop (String, KnownFault?) -> Void
    private var settings: WebSettings
    private var hosts: HostRule
    private var origins: OriginRule
    private var users: LocalUsers
    private var devices: DeviceList
    /// Unix times of last uses in the file.
    private var written: [String: Double]
    private var desk = PairingDesk()
    private var guesses = GuessCounter()
    private var generator: any RandomNumberGenerator
    private var nonces: ProofNonces

    /// Seconds between two writes of a device's last use.
    private static let useInterval = 86_400.0

    /// Reads the devices. Throws if their file cannot be read. `log` gets lines for the journal, which may contain foreign
    /// text, but never a token or a code, and the number of a fault.
    package init(
        _ settings: WebSettings, _ users: LocalUsers, _ store: DeviceStore, machine: String = HostRule.machine,
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator(),
        log: @escaping @PlayerLoop (String, KnownFault?) -> Void
    ) throws(BridgeFailure) {
        self.settings = settings
        self.users = users
        self.store = store
        write = log
        self.generator = generator
        nonces = ProofNonces(&self.generator)
        hosts = HostRule(settings, machine: machine)
        origins = OriginRule(settings.origins)
        do throws(SystemError) {
            let loaded = try store.load()
            devices = loaded.list
            if let damage = loaded.damage { log("warning: " + damage, nil) }
        } catch {
            throw BridgeFailure("cannot read the paired devices: \(error.message)")
        }
        written = Dictionary(devices.devices.map { ($0.id, $0.lastUsed) }) { first, _ in first }
    }

    private func log(_ line: String, _ fault: KnownFault? = nil) { write(line, fault) }

    /// True if the groups of this user have to be known before its requests are judged.
    package func needsGroups(of user: UInt32) -> Bool { users.needsGroups(of: user) }

    /// Applies new settings to further requests. `isAdmitted` tests if an earlier one may continue.
    package func reload(_ settings: WebSettings, _ users: LocalUsers, machine: String = HostRule.machine) {
        self.settings = settings
        self.users = users
        hosts = HostRule(settings, machine: machine)
        origins = OriginRule(settings.origins)
    }

    // MARK: Requests

    /// Judges a request. `wall`: Unix time in seconds.
    package func judge(_ request: AccessRequest, at now: MonotonicTime, wall: Double) -> AccessVerdict {
        guard let host = request.host else { return .malformed }
        guard hosts.allows(host) else { return .misdirected }
        switch request.purpose {
        case .page: return .open
        case .pairing: return origins.allows(request) ? .open : .foreign
        case .call: break
        }
        guard origins.allows(request) else { return .foreign }
        switch request.token {
        case .none: return withoutToken(request) ?? .refused(after: 0, hasCookie: false)
        case .unknown: return .refused(after: 0, hasCookie: false)
        case .proof(let words): return proof(words, request, now, wall)
        case .bearer(let token):
            return device(token, wall) ?? .refused(after: wrongGuess("token", request, now), hasCookie: false)
        case .cookie(let token):
            if let admitted = device(token, wall) { return admitted }
            // A browser keeps the cookie of a revoked device.
            return withoutToken(request)
                ?? .refused(after: wrongGuess("token", request, now), hasCookie: true)
        }
    }

    /// True while an admitted caller has these rights. A revocation of its device, or new settings, can take them away.
    package func isAdmitted(_ caller: AccessCaller) -> Bool {
        switch caller.identity {
        case .device(let id): devices.devices.contains { $0.id == id }
        case .user(let uid, _): users.role(of: uid).map { $0 >= caller.role } ?? false
        case .anonymous:
            switch settings.anonymous {
            case .none: false
            case .read: true
            }
        }
    }

    /// The value of `Access-Control-Allow-Origin`; nil: none.
    package func sharedOrigin(of request: AccessRequest) -> String? { origins.sharedOrigin(of: request) }

    // MARK: Proofs

    /// Answers the claim of a device, before the device proves itself. The address of a claim has to be that of this end of its
    /// connection, unless the owner has confirmed it to the device.
    package func prove(_ claim: ProofClaim, _ request: AccessRequest, at now: MonotonicTime) -> ProofAnswer {
        guard let device = devices.device(named: claim.device) else {
            return .refused(after: wrongGuess("key of a device", request, now))
        }
        guard Self.isHere(claim, request) else { return .elsewhere }
        let nonce = nonces.make(claim, at: now, &generator)
        let proof = device.keys.boxProof(claim, device.role, nonce: nonce)
        return .proven(nonce: nonce, role: device.role, proof: Base64URL.text(proof))
    }

    private static func isHere(_ claim: ProofClaim, _ request: AccessRequest) -> Bool {
        switch claim.way {
        case .own: claim.address == request.connection.end
        case .confirmed: true
        }
    }

    private func proof(
        _ words: ProofWords, _ request: AccessRequest, _ now: MonotonicTime, _ wall: Double
    ) -> AccessVerdict {
        let claim = words.claim
        guard Self.isHere(claim, request), let end = nonces.end(of: words.nonce, claim, at: now) else { return .stale }
        guard let known = devices.device(named: claim.device),
            case let token = known.keys.token(in: words.proof, claim, known.role, nonce: words.nonce),
            let admitted = device(token, wall)
        else { return .refused(after: wrongGuess("proof", request, now), hasCookie: false) }
        return nonces.use(words.nonce, claim, end: end, at: now) ? admitted : .tooMany
    }

    private func device(_ token: String, _ wall: Double) -> AccessVerdict? {
        guard let device = devices.device(for: token) else { return nil }
        devices.note(device.id, usedAt: wall)
        if wall - (written[device.id] ?? 0) >= Self.useInterval { saveUses() }
        return .admitted(AccessCaller(.device(id: device.id), device.role))
    }

    private func withoutToken(_ request: AccessRequest) -> AccessVerdict? {
        if let user = user(of: request), let role = users.role(of: user) {
            return .admitted(AccessCaller(.user(uid: user, isOwner: users.isOwner(user)), role))
        }
        switch settings.anonymous {
        case .none: return nil
        case .read: return .admitted(AccessCaller(.anonymous, .read))
        }
    }

    /// The user of a caller on this machine; nil: the caller is a proxy for another client, or the user is unknown.
    private func user(of request: AccessRequest) -> UInt32? {
        switch request.connection.door {
        case .direct: request.host?.isLoopback == true && !request.isForwarded ? request.connection.user : nil
        case .proxy: nil
        }
    }

    private func wrongGuess(_ kind: String, _ request: AccessRequest, _ now: MonotonicTime) -> Double {
        let (delay, count) = guesses.note(request.source, at: now)
        // The log has the first guess of a source, and then fewer and fewer.
        if count & (count - 1) == 0 { log("wrong \(kind) from \(request.source) (\(count) so far)", .wrongGuess) }
        return delay
    }

    /// Wrong codes and tokens since the start.
    package var wrongGuesses: Int { guesses.total }

    // MARK: Pairing

    /// Opens a code for a device with this role, in place of the previous code.
    func beginPairing(_ role: Role, seconds: Double, at now: MonotonicTime) throws(BridgeFailure) -> PairingDesk.Code {
        guard !devices.isFull else {
            throw BridgeFailure(
                "\(DeviceList.limit) devices are paired, which is the limit; revoke one: nowplayingctl devices")
        }
        if desk.open != nil { onPairingEnd?(.replaced) }
        return desk.begin(role, seconds: seconds, at: now, &generator)
    }

    /// The end of the open code; nil: none is open.
    var pairingExpires: MonotonicTime? { desk.open?.expires }

    /// Ends an expired code.
    func expirePairing(at now: MonotonicTime) { if desk.expire(at: now) { onPairingEnd?(.expired) } }

    /// Judges a pairing code. `name`: the name that the device gives itself. `wall`: Unix time in seconds.
    package func pair(
        _ code: String, name: String, _ request: AccessRequest, at now: MonotonicTime, wall: Double
    ) -> PairingAnswer {
        expirePairing(at: now)
        let guess = desk.take(code, from: request.source, at: now)
        switch guess {
        case .right(let role): return add(name, role, request, wall)
        case .wrong, .none: break
        case .tooMany:
            log("warning: the pairing code is void after \(PairingDesk.maximumWrong) wrong guesses")
            onPairingEnd?(.void)
        }
        return .refused(
            after: wrongGuess("pairing code", request, now),
            message: "wrong code, or its time is over; nowplayingctl pair shows a new one")
    }

    private func add(_ name: String, _ role: Role, _ request: AccessRequest, _ wall: Double) -> PairingAnswer {
        let token = DeviceToken(&generator)
        let before = devices
        let device = devices.add(name, role, token, wall: wall, &generator)
        do throws(SystemError) { try store.save(devices) } catch {
            devices = before
            log("error: the device is not paired: \(error.message)")
            onPairingEnd?(.failed(error.message))
            return .refused(
                after: 0, message: "this device could not be saved; the log of nowplaying-web has the reason")
        }
        noteWritten()
        log("paired the device “\(device.name)” (\(device.id), \(role.rawValue)) from \(request.source)")
        onPairingEnd?(.paired(device))
        return .paired(token, device)
    }

    // MARK: Devices

    /// The devices that a caller sees: all of them for the daemon's own user, itself for a device.
    package func devices(for caller: AccessCaller) -> [Device] {
        switch caller.identity {
        case .user(_, let isOwner): isOwner ? devices.devices : []
        case .device(let id): devices.devices.filter { $0.id == id }
        case .anonymous: []
        }
    }

    /// Revokes a device that the caller sees. False: the caller sees no device of this id.
    package func revoke(_ id: String, by caller: AccessCaller) throws(BridgeFailure) -> Bool {
        guard devices(for: caller).contains(where: { $0.id == id }) else { return false }
        return try revoke(id)
    }

    /// All devices.
    var allDevices: [Device] { devices.devices }

    /// Revokes a device. False: there is none of this id. On a full disk its key is overwritten where it is. Throws if that
    /// fails, too, such as on a disk that is read-only; the device then has no access until a restart.
    func revoke(_ id: String) throws(BridgeFailure) -> Bool {
        guard let device = devices.remove(id) else { return false }
        onRevocation?(id)
        do throws(SystemError) {
            try store.save(devices)
            noteWritten()
        } catch {
            do throws(SystemError) { try store.strike(device) } catch {
                throw BridgeFailure("the revocation is lost after a restart: \(error.message)")
            }
            log("warning: the key of the device is overwritten in the file of the devices: \(error.message)")
        }
        log("revoked the device “\(device.name)” (\(id))")
        return true
    }

    /// Writes the last uses that the file does not have yet. To be called at the end.
    package func end() {
        if devices.devices.contains(where: { written[$0.id] != $0.lastUsed }) { saveUses() }
    }

    private func saveUses() {
        // A failing disk loses only times of last use.
        do throws(SystemError) { try store.save(devices) } catch { log("warning: \(error.message)") }
        noteWritten()
    }

    private func noteWritten() {
        written = Dictionary(devices.devices.map { ($0.id, $0.lastUsed) }) { first, _ in first }
    }
}

/// The end of a pairing code.
enum PairingEnd: Sendable {
    case paired(Device)
    case expired
    /// Too many wrong guesses.
    case void
    /// Another code took its place.
    case replaced
    /// The device could not be saved, for this reason.
    case failed(String)
}
