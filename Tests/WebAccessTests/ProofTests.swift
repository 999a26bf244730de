import ControlProtocol
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import WebAccess

/// Proofs of the box and of devices, with a device that is written here a second time.
@Suite struct ProofTests {
    init() { LoopThread.start() }

    /// A device that proves itself.
    private struct Prover {
        let token: String
        var address = "192.0.2.5:8088"
        var way = "own"
        let sent = Base64URL.text(Array(0..<32))

        private var secret: [UInt8] { Array(DeviceToken.digest(token).utf8) }
        private func code(_ key: [UInt8], _ text: String) -> [UInt8] { MessageCode.code(key, Array(text.utf8)) }
        private func key(_ purpose: String) -> [UInt8] { code(secret, "nowplaying-web proof 1\n" + purpose) }
        var name: String { DeviceToken.hexadecimal(Array(key("name").prefix(16))) }
        var members: [String: String] { ["device": name, "address": address, "way": way, "sent": sent] }
        var claim: ProofClaim? { ProofClaim { members[$0] } }

        private func text(_ side: String, _ role: ControlRole, _ nonce: String) -> String {
            "nowplaying-web proof 1\n\(side)\n\(role.rawValue)\n\(name)\n\(way)\n\(address)\n\(sent)\n\(nonce)\n"
        }

        /// The proof that the box has to give.
        func expected(_ role: ControlRole, _ nonce: String) -> String {
            Base64URL.text(code(key("key of the box"), text("box", role, nonce)))
        }

        /// The header of a request.
        func header(_ role: ControlRole, _ nonce: String) -> String {
            let mask = code(key("key of the device"), text("device", role, nonce))
            let proof = zip(Base64URL.bytes(token) ?? [], mask).map { $0 ^ $1 }
            return "Proof device=\(name),address=\(address),way=\(way),sent=\(sent),nonce=\(nonce),"
                + "proof=\(Base64URL.text(proof))"
        }
    }

    @PlayerLoop private func answer(
        _ house: JudgeHouse, _ prover: Prover, end: String? = "192.0.2.5:8088"
    ) throws -> ProofAnswer {
        house.judge.prove(
            try #require(prover.claim), house.request(end: end.flatMap(HostName.init), as: .pairing), at: house.now)
    }

    @PlayerLoop private func nonce(_ house: JudgeHouse, _ prover: Prover, _ role: ControlRole = .control) throws
        -> String
    {
        guard case .proven(let nonce, let given, let proof) = try answer(house, prover) else {
            throw JudgeHouse.NotPaired()
        }
        #expect(given == role && proof == prover.expected(role, nonce))
        return nonce
    }

    @PlayerLoop private func verdict(
        _ house: JudgeHouse, _ header: String, end: String? = "192.0.2.5:8088", door: AccessConnection.Door = .direct
    ) -> AccessVerdict {
        let request = house.request(
            [("Authorization", header)], door: door, end: end.flatMap(HostName.init), as: .call)
        return house.judge.judge(request, at: house.now, wall: JudgeHouse.start + house.seconds)
    }

    @Test("a device and the box prove themselves, once for each nonce", arguments: [.read, .control] as [ControlRole])
    @PlayerLoop func good(role: ControlRole) throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let (token, device) = try house.paired(role)
        let prover = Prover(token: token)
        let header = prover.header(role, try nonce(house, prover, role))
        #expect(!header.contains(token))
        #expect(verdict(house, header) == .admitted(AccessCaller(.device(id: device.id), role)))
        #expect(verdict(house, header) == .stale)
        // Nonces do not depend on their order, and one that was not used costs nothing.
        let nonces = try (0..<5).map { _ in try nonce(house, prover, role) }
        #expect(Set(nonces).count == 5)
        for nonce in nonces.reversed() {
            #expect(verdict(house, prover.header(role, nonce)) == .admitted(AccessCaller(.device(id: device.id), role)))
        }
        // The devices outlive a restart, and nonces do not.
        let late = prover.header(role, try nonce(house, prover, role))
        let again = try JudgeHouse(folder: house.folder, seed: 9)
        #expect(verdict(again, late) == .stale)
        #expect(verdict(again, prover.header(role, try nonce(again, prover, role))) != .stale)
    }

    @Test("the box answers only at the address that the device has dialled") @PlayerLoop func addresses() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let (token, device) = try house.paired()
        var prover = Prover(token: token)
        for end in ["192.0.2.6:8088", "192.0.2.5:8089", "[2001:db8::5]:8088", nil] as [String?] {
            #expect(try answer(house, prover, end: end) == .elsewhere, "\(end ?? "none")")
        }
        let header = prover.header(.control, try nonce(house, prover))
        #expect(verdict(house, header, end: "192.0.2.6:8088") == .stale)
        #expect(verdict(house, header, end: nil, door: .proxy) == .stale)
        #expect(verdict(house, header) == .admitted(AccessCaller(.device(id: device.id), .control)))
        prover.address = "[2001:db8::5]:8088"
        guard case .proven = try answer(house, prover, end: "[2001:0db8:0::5]:8088") else {
            Issue.record("the same address in another spelling")
            return
        }
        // An address that the owner has confirmed to the device is any address, and the proof says so.
        prover.address = "198.51.100.1:80"
        prover.way = "confirmed"
        let confirmed = prover.header(.control, try nonce(house, prover))
        #expect(verdict(house, confirmed.replacing("way=confirmed", with: "way=own")) == .stale)
        #expect(verdict(house, confirmed, end: nil, door: .proxy) != .stale)
    }

    @Test("a claim that a machine in between changes gets a proof of no use") @PlayerLoop func changes() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let (token, _) = try house.paired()
        var dialled = Prover(token: token)
        dialled.address = "203.0.113.66:8088"
        guard case .proven(let nonce, _, let proof) = try answer(house, Prover(token: token)) else {
            throw JudgeHouse.NotPaired()
        }
        #expect(proof != dialled.expected(.control, nonce))
        #expect(proof != Prover(token: token).expected(.read, nonce))
        var confirmed = Prover(token: token)
        confirmed.way = "confirmed"
        #expect(proof != confirmed.expected(.control, nonce))
        // The proof of the box is none of a device, and the header of a device is none of the box.
        let header = Prover(token: token).header(.control, nonce)
        let parts = header.split(separator: "proof=")
        #expect(verdict(house, parts[0] + "proof=" + proof) == .refused(after: 0.5, hasCookie: false))
        #expect(!header.hasSuffix(proof))
    }

    @Test("wrong proofs are guesses; forged, old and strange ones are none") @PlayerLoop func wrong() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let (token, device) = try house.paired()
        let other = try house.paired(name: "other")
        let prover = Prover(token: token)
        // The token of another device, and the digest alone, which the file of the devices has.
        let thief = Prover(token: other.token)
        let nonce = try nonce(house, prover)
        let stolen = thief.header(.control, nonce).replacing(thief.name, with: prover.name)
        #expect(verdict(house, stolen) == .refused(after: 0.5, hasCookie: false))
        #expect(try answer(house, Prover(token: DeviceToken.digest(token))) == .refused(after: 1))
        #expect(house.judge.wrongGuesses == 2)
        // A wrong proof does not use the nonce up.
        let header = prover.header(.control, nonce)
        for text in [
            header + ",x=y", header + ",", "Proof", "Proof ", "Proof x", header.replacing(",way=own", with: ""),
            header.replacing("way=own", with: "way=other"), header.replacing("nonce=", with: "nonce=A"),
            header.replacing("192.0.2.5:8088", with: "192.0.2.5"), header.replacing("192.0.2.5:8088", with: "box:8088"),
            header.replacing("192.0.2.5:8088", with: "192.0.2.5:08088"), String(header.dropLast()),
            header + String(repeating: "A", count: 600),
        ] {
            switch verdict(house, text) {
            case .stale, .refused(after: 0, hasCookie: false): break
            case let verdict: Issue.record("\(text): \(verdict)")
            }
        }
        #expect(house.judge.wrongGuesses == 2)
        house.seconds = ProofNonces.seconds - 0.1
        #expect(verdict(house, header) == .admitted(AccessCaller(.device(id: device.id), .control)))
        let late = prover.header(.control, try self.nonce(house, prover))
        house.seconds += ProofNonces.seconds
        #expect(verdict(house, late) == .stale)
        // A revoked device has no key.
        let last = prover.header(.control, try self.nonce(house, prover))
        #expect(try house.judge.revoke(device.id))
        #expect(verdict(house, last) == .refused(after: 2, hasCookie: false))
        #expect(try answer(house, prover) == .refused(after: 4))
    }

    @Test("the memory for used nonces is bounded, for each device and in all") @PlayerLoop func bounds() async throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let provers = try (0..<5).map { Prover(token: try house.paired(name: "device \($0)").token) }
        func uses(_ prover: Prover) async throws -> Int {
            for count in 0... {
                // The loop serves the clients of other tests meanwhile.
                if count % 16 == 0 { await LoopThread.turns(1) }
                if verdict(house, prover.header(.control, try nonce(house, prover))) == .tooMany { return count }
            }
            return 0
        }
        // Nonces that nobody uses, and wrong proofs, take no place.
        for count in 0..<2000 {
            if count % 16 == 0 { await LoopThread.turns(1) }
            _ = try nonce(house, provers[0])
        }
        var counts: [Int] = []
        for prover in provers { counts.append(try await uses(prover)) }
        #expect(counts == [1024, 1024, 1024, 1024, 0])
        house.seconds += ProofNonces.seconds + 1
        #expect(try await uses(provers[4]) == 1024)
    }

    @Test("Base64 for addresses has one spelling of each text") func base64() {
        for count in 0..<40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 89 &+ 251) }
            #expect(Base64URL.bytes(Base64URL.text(bytes)) == bytes)
        }
        for text in ["A", "AB", "AAB", "AA=", "A+AA", "AAAAA", "é"] { #expect(Base64URL.bytes(text) == nil, "\(text)") }
    }
}
