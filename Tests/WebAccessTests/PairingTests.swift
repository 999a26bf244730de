import BridgeRuntime
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import WebAccess

/// Codes, guesses, devices and their file.
@Suite struct PairingTests {
    init() { LoopThread.start() }

    private func delay(_ answer: PairingAnswer) -> Double? {
        switch answer {
        case .paired: nil
        case .refused(let delay, _): delay
        }
    }

    @Test("a code is good once, until its time is over") @PlayerLoop func codes() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        #expect(delay(house.pair("00000000")) == 0.5)
        let code = try house.judge.beginPairing(.control, seconds: 300, at: house.now)
        #expect(code.digits.utf8.count == 8 && code.digits.utf8.allSatisfy { (0x30...0x39).contains($0) })
        house.seconds = 299.9
        let typed = code.digits.prefix(4) + " " + code.digits.dropFirst(4).prefix(2) + "-" + code.digits.suffix(2)
        guard case .paired(let token, let device) = house.pair(String(typed), name: "  My\u{1B}[31m phone\n") else {
            Issue.record("not paired")
            return
        }
        #expect(token.text.utf8.count == 43)
        #expect(device.role == .control)
        #expect(!device.name.contains("\u{1B}") && !device.name.contains("\n"))
        #expect(delay(house.pair(code.digits)) != nil)
        let second = try house.judge.beginPairing(.read, seconds: 10, at: house.now)
        house.seconds += 10
        #expect(delay(house.pair(second.digits)) != nil)
        #expect(house.ends == ["paired", "expired"])
        #expect(house.log.contains { $0.contains("192.0.2.7") && $0.contains(device.id) })
        #expect(!house.log.contains { $0.contains(token.text) || $0.contains(code.digits) })
    }

    @Test("a new code replaces the one before") @PlayerLoop func replaced() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let first = try house.judge.beginPairing(.control, seconds: 300, at: house.now)
        let second = try house.judge.beginPairing(.read, seconds: 300, at: house.now)
        #expect(first.digits != second.digits)
        #expect(delay(house.pair(first.digits)) != nil)
        #expect(delay(house.pair(second.digits)) == nil)
        #expect(house.ends == ["replaced", "paired"])
    }

    @Test("five wrong guesses of one source end its guesses, and not those of others", arguments: [4, 5, 60])
    @PlayerLoop func guessingAlone(count: Int) throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let code = try house.judge.beginPairing(.control, seconds: 300, at: house.now)
        let wrong = code.digits == "11111111" ? "22222222" : "11111111"
        for _ in 0..<count { #expect(delay(house.pair(wrong, address: "192.0.2.66")) != nil) }
        #expect((delay(house.pair(code.digits, address: "192.0.2.66")) == nil) == (count < 5))
        if count >= 5 { #expect(delay(house.pair(code.digits)) == nil) }
        #expect(house.ends == ["paired"])
    }

    @Test("a hundred wrong guesses make a code void", arguments: [0, 99, 100])
    @PlayerLoop func guessing(count: Int) throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let code = try house.judge.beginPairing(.control, seconds: 300, at: house.now)
        let wrong = code.digits == "11111111" ? "22222222" : "11111111"
        // From many addresses, as one attacker may have.
        let delays = (0..<count).map { delay(house.pair(wrong, address: "192.0.2.\($0 + 100)")) }
        #expect(delays == [Double?](repeating: 0.5, count: count))
        #expect((delay(house.pair(code.digits)) == nil) == (count < PairingDesk.maximumWrong))
        #expect(house.ends == (count < PairingDesk.maximumWrong ? ["paired"] : ["void"]))
        #expect(house.judge.wrongGuesses == count + (count < PairingDesk.maximumWrong ? 0 : 1))
    }

    @Test("each wrong guess of a source delays more, and time forgets them") func delays() {
        var counter = GuessCounter()
        let start = MonotonicTime(seconds: 5)
        let delays = (0..<8).map { _ in counter.note("a", at: start).delay }
        #expect(delays == [0.5, 1, 2, 4, 8, 8, 8, 8])
        #expect(counter.note("b", at: start).delay == 0.5)
        #expect(counter.note("a", at: start.advanced(bySeconds: 600)).delay == 8)
        #expect(counter.note("a", at: start.advanced(bySeconds: 1200.1)).delay == 0.5)
        // The number of sources is bounded; the oldest is forgotten.
        for index in 0..<(2 * GuessCounter.limit) {
            _ = counter.note("s\(index)", at: start.advanced(bySeconds: 2000 + Double(index)))
        }
        #expect(counter.note("a", at: start.advanced(bySeconds: 1200.2)).delay == 0.5)
        #expect(counter.total == 8 + 1 + 2 + 2 * GuessCounter.limit + 1)
        var many = GuessCounter()
        #expect((0..<2000).map { _ in many.note("a", at: start).delay }.max() == GuessCounter.longestDelay)
    }

    @Test("what is logged of guesses grows slowly") @PlayerLoop func quiet() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        for _ in 0..<1000 { _ = house.judge([("Authorization", "Bearer secret-guess")]) }
        #expect(house.log.count == 10)
        #expect(house.log.last == "wrong token from 192.0.2.7 (512 so far)")
        #expect(!house.log.contains { $0.contains("secret") })
    }

    @Test("a revocation on a full disk lasts: the key is overwritten in its place") @PlayerLoop func fullDisk() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let (token, device) = try house.paired()
        let other = try house.paired(name: "other")
        // No new file can be made there, as on a full disk.
        mkdir(house.file + ".new", 0o700)
        #expect(try house.judge.revoke(device.id))
        #expect(house.revoked == [device.id])
        #expect(house.log.contains { $0.contains("overwritten") && !$0.contains(token) })
        let again = try JudgeHouse(folder: house.folder, seed: 3)
        #expect(again.judge.allDevices == [other.device])
        #expect(again.judge([("Authorization", "Bearer \(token)")]) == .refused(after: 0.5, hasCookie: false))
        #expect(
            again.judge([("Authorization", "Bearer \(other.token)")])
                == .admitted(AccessCaller(.device(id: other.device.id), .control)))
        // Where nothing can be written, the caller learns that it does not last.
        unlink(house.file)
        symlink("/dev/null", house.file)
        #expect(throws: BridgeFailure.self) { try house.judge.revoke(other.device.id) }
        rmdir(house.file + ".new")
    }

    @Test("devices outlive a restart, hashed, for their owner alone") @PlayerLoop func file() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let (token, device) = try house.paired(name: "Wall “1”")
        let other = try house.paired(.read, name: "")
        #expect(other.device.name == "device")
        var status = stat()
        #expect(stat(house.file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(house.folder + "/state", &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(access(house.file + ".new", F_OK) != 0)
        let again = try JudgeHouse(folder: house.folder, seed: 2)
        #expect(again.judge.allDevices == [device, other.device])
        #expect(
            again.judge([("Authorization", "Bearer \(token)")])
                == .admitted(AccessCaller(.device(id: device.id), .control)))
        let text = String(decoding: contents(house.file), as: UTF8.self)
        #expect(!text.contains(token) && text.contains(DeviceToken.digest(token)))
    }

    private func contents(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }

    private func write(_ bytes: [UInt8], _ path: String) {
        guard let file = fopen(path, "w") else { return }
        defer { fclose(file) }
        fwrite(bytes, 1, bytes.count, file)
    }

    @Test("digests are SHA-256 (FIPS 180-4)") func digest() {
        #expect(
            DeviceToken.digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test("a revoked device has no access at once, and none after a restart") @PlayerLoop func revocation() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let (token, device) = try house.paired()
        let (kept, _) = try house.paired()
        #expect(try house.judge.revoke(device.id))
        #expect(house.revoked == [device.id])
        #expect(try !house.judge.revoke(device.id))
        #expect(house.revoked == [device.id])
        for judge in [house, try JudgeHouse(folder: house.folder)] {
            #expect(judge.judge([("Authorization", "Bearer \(token)")]) == .refused(after: 0.5, hasCookie: false))
            #expect(judge.judge([("Authorization", "Bearer \(kept)")]) != .refused(after: 0.5, hasCookie: false))
        }
    }

    @Test("callers see and revoke what is theirs") @PlayerLoop func scopes() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let one = try house.paired().device
        let two = try house.paired().device
        let table: [(AccessCaller.Identity, [String])] = [
            (.device(id: one.id), [one.id]), (.device(id: "0"), []), (.anonymous, []),
            (.user(uid: 1001, isOwner: false), []), (.user(uid: 1000, isOwner: true), [one.id, two.id]),
        ]
        for (identity, ids) in table {
            let caller = AccessCaller(identity, .control)
            #expect(house.judge.devices(for: caller).map(\.id) == ids)
            if ids.isEmpty { #expect(try !house.judge.revoke(one.id, by: caller)) }
        }
        #expect(try !house.judge.revoke(two.id, by: AccessCaller(.device(id: one.id), .control)))
        #expect(try house.judge.revoke(one.id, by: AccessCaller(.device(id: one.id), .read)))
        #expect(try house.judge.revoke(two.id, by: AccessCaller(.user(uid: 1000, isOwner: true), .control)))
        #expect(house.judge.allDevices.isEmpty)
    }

    @Test("last uses are written once a day, and at the end") @PlayerLoop func uses() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let (token, device) = try house.paired()
        func saved() throws -> Double {
            try #require(DeviceList(file: contents(house.file))?.devices.first { $0.id == device.id }).lastUsed
        }
        let start = JudgeHouse.start
        for (seconds, expected) in [(10.0, 0.0), (86_399, 0), (86_400, 86_400), (86_410, 86_400), (172_800, 172_800)] {
            house.seconds = seconds
            _ = house.judge([("Authorization", "Bearer \(token)")])
            #expect(try saved() == start + expected)
            #expect(house.judge.allDevices.first?.lastUsed == start + seconds)
        }
        house.seconds = 172_900
        _ = house.judge([("Authorization", "Bearer \(token)")])
        house.judge.end()
        #expect(try saved() == start + 172_900)
    }

    @Test(
        "a damaged file is kept aside",
        arguments: [
            "", "{", "null", #"{"version":2,"devices":[]}"#, #"{"version":1}"#, #"{"version":1,"devices":[{}]}"#,
            #"{"version":1,"devices":[{"id":"0123456789abcdef","name":"a","role":"admin","paired":1,"lastUsed":1,"digest":"DIGEST"}]}"#,
            #"{"version":1,"devices":[{"id":"../../etc","name":"a","role":"read","paired":1,"lastUsed":1,"digest":"DIGEST"}]}"#,
        ])
    @PlayerLoop func damage(text: String) throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let (token, _) = try house.paired()
        write(Array(text.replacing("DIGEST", with: DeviceToken.digest(token)).utf8), house.file)
        let again = try JudgeHouse(folder: house.folder)
        #expect(again.judge.allDevices.isEmpty)
        #expect(again.log.count == 1 && again.log[0].contains("damaged"))
        #expect(access(house.file + ".broken", F_OK) == 0)
        #expect(again.judge([("Authorization", "Bearer \(token)")]) == .refused(after: 0.5, hasCookie: false))
        // Pairing works again.
        _ = try again.paired()
    }

    @Test("a device that can't be saved is not paired") @PlayerLoop func unsaved() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let code = try house.judge.beginPairing(.control, seconds: 300, at: house.now)
        // A file in the place of the folder; root may write everywhere else.
        write([], house.folder + "/state")
        #expect(delay(house.pair(code.digits)) == 0)
        #expect(house.judge.allDevices.isEmpty)
        #expect(house.ends == ["failed"])
        unlink(house.folder + "/state")
    }

    @Test("the number of devices is bounded") @PlayerLoop func limit() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        for _ in 0..<DeviceList.limit { _ = try house.paired() }
        #expect(throws: BridgeFailure.self) { try house.judge.beginPairing(.read, seconds: 1, at: house.now) }
        #expect(Set(house.judge.allDevices.map(\.id)).count == DeviceList.limit)
        #expect(try JudgeHouse(folder: house.folder).judge.allDevices.count == DeviceList.limit)
    }

    @Test(
        "addresses that others type",
        arguments: [
            ([("127.0.0.1", 8088), ("::1", 8088)], "", [], false),
            ([("0.0.0.0", 8088), ("::", 8088)], "", ["http://192.0.2.7:8088/", "http://[2001:db8::7]:8088/"], true),
            ([("192.0.2.7", 80)], "", ["http://192.0.2.7/"], true),
            ([("::", 9)], "", ["http://[2001:db8::7]:9/"], true),
            ([("0.0.0.0", 443)], "certificate = /c\nkey = /k", ["https://192.0.2.7/"], true),
            ([("::ffff:127.0.0.1", 1)], "", [], false),
            ([("0.0.0.0", 8088)], "address = box.lan", ["http://box.lan:8088/"], true),
            ([("127.0.0.1", 8088)], "address = https://m.example", ["https://m.example/"], false),
        ] as [([(String, UInt16)], String, [String], Bool)])
    func reach(bound: [(String, UInt16)], section: String, urls: [String], isBeyond: Bool) throws {
        var settings = WebSettings()
        try settings.take(Array("[web]\n\(section)\n".utf8), named: "file")
        let listeners = bound.map { WebReach.Listener(address: $0.0, port: $0.1) }
        let reach = WebReach(listeners, proxies: [], settings)
        #expect(reach.urls(own: ["192.0.2.7", "2001:db8::7"]) == urls)
        #expect(reach.isBeyondLoopback == isBeyond)
        #expect(WebReach(listeners, proxies: ["/p"], settings).isBeyondLoopback)
    }
}
