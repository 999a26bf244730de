import BridgeRuntime
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import Testing

@testable import WebAccess

/// The role of the protocol, by a name that tests of several modules share.
typealias ControlRole = ControlProtocol.Role

/// Numbers that repeat.
struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    /// The next number of splitmix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// A judge with a folder of its own, on virtual time.
@PlayerLoop final class JudgeHouse {
    let folder: String
    let judge: AccessJudge
    private(set) var revoked: [String] = []
    private(set) var ends: [String] = []
    /// Seconds of virtual time since the start.
    var seconds = 0.0

    /// Unix time of the start.
    static let start = 1_700_000_000.0
    /// The user of the daemon in these tests.
    nonisolated static let owner: UInt32 = 1000

    /// A judge; `section`: lines of `[web]`. `folder`: of another house, whose devices it takes over.
    init(_ section: String = "", folder: String? = nil, seed: UInt64 = 1) throws {
        if let folder {
            self.folder = folder
        } else {
            var template = Array("/tmp/web-access.XXXXXX".utf8CString)
            self.folder = String(cString: try #require(mkdtemp(&template)))
        }
        var settings = WebSettings()
        try settings.take(Array("[web]\nstate-directory = \(self.folder)/state\n\(section)\n".utf8), named: "file")
        let groups: [UInt32: Set<UInt32>] = [1001: [50], 1002: [60]]
        let users = LocalUsers(owner: Self.owner, controlGroup: 50, readGroup: 60) { groups[$0] ?? [] }
        let store = try #require(DeviceStore(settings))
        let box = Lines()
        judge = try AccessJudge(
            settings, users, store, machine: "box", generator: SeededNumbers(state: seed)
        ) { line, _ in box.lines.append(line) }
        self.box = box
        judge.onRevocation = { [unowned self] in revoked.append($0) }
        judge.onPairingEnd = { [unowned self] in ends.append(Self.name($0)) }
    }

    private let box: Lines

    @PlayerLoop private final class Lines { var lines: [String] = [] }

    private static func name(_ end: PairingEnd) -> String {
        switch end {
        case .paired: "paired"
        case .expired: "expired"
        case .void: "void"
        case .replaced: "replaced"
        case .failed: "failed"
        }
    }

    /// Lines of the log.
    var log: [String] { box.lines }
    /// The path of the file of devices.
    var file: String { folder + "/state/devices.json" }
    /// Now, in virtual time.
    var now: MonotonicTime { MonotonicTime(seconds: 1000 + seconds) }

    /// Judges a request of a program on the LAN, unless it says otherwise.
    func judge(
        _ headers: [(String, String)] = [], host: String? = "box:8088", door: AccessConnection.Door = .direct,
        user: UInt32? = nil, address: String = "192.0.2.7", as purpose: AccessRequest.Purpose = .call
    ) -> AccessVerdict {
        judge.judge(
            request(headers, host: host, door: door, user: user, address: address, as: purpose), at: now,
            wall: Self.start + seconds)
    }

    /// A request.
    func request(
        _ headers: [(String, String)] = [], host: String? = "box:8088", door: AccessConnection.Door = .direct,
        user: UInt32? = nil, address: String = "192.0.2.7", end: HostName? = nil,
        as purpose: AccessRequest.Purpose = .call
    ) -> AccessRequest {
        let connection = AccessConnection(door: door, address: address, user: user, usesTLS: false, end: end)
        let all = (host.map { [("Host", $0)] } ?? []) + headers
        return AccessRequest(connection, purpose, headers: all.map { (name: $0.0, value: $0.1) })
    }

    /// Tries a pairing code.
    func pair(_ code: String, name: String = "phone", address: String = "192.0.2.7") -> PairingAnswer {
        judge.pair(code, name: name, request(address: address, as: .pairing), at: now, wall: Self.start + seconds)
    }

    /// Pairs a device.
    func paired(_ role: ControlRole = .control, name: String = "phone") throws -> (token: String, device: Device) {
        let code = try judge.beginPairing(role, seconds: 300, at: now)
        guard case .paired(let token, let device) = pair(code.digits, name: name) else { throw NotPaired() }
        return (token.text, device)
    }

    /// A pairing that failed.
    struct NotPaired: Error {}

    /// Removes the folder.
    func remove() {
        for name in ["devices.json", "devices.json.broken", "devices.json.new"] { unlink(folder + "/state/" + name) }
        rmdir(folder + "/state")
        rmdir(folder)
    }
}
