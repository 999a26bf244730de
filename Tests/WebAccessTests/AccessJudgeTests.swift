import BridgeRuntime
import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import WebAccess

/// Verdicts on requests.
@Suite struct AccessJudgeTests {
    init() { LoopThread.start() }

    private static let owner = JudgeHouse.owner
    private static func user(_ uid: UInt32, _ role: ControlRole) -> AccessVerdict {
        .admitted(AccessCaller(.user(uid: uid, isOwner: uid == owner), role))
    }
    private static let stranger = AccessVerdict.refused(after: 0, hasCookie: false)

    @Test("hosts come before everything else") @PlayerLoop func hosts() throws {
        let house = try JudgeHouse("anonymous = read")
        defer { house.remove() }
        for purpose in [AccessRequest.Purpose.page, .pairing, .call] {
            #expect(house.judge(host: nil, as: purpose) == .malformed)
            #expect(house.judge([("Host", "box")], as: purpose) == .malformed)
            #expect(house.judge(host: "a b", as: purpose) == .malformed)
            #expect(house.judge(host: "evil.example:8088", as: purpose) == .misdirected)
            // A rebound page is its own origin.
            #expect(
                house.judge([("Origin", "http://evil.example:8088")], host: "evil.example:8088", as: purpose)
                    == .misdirected)
        }
        #expect(house.judge(as: .page) == .open)
        #expect(house.judge([("Sec-Fetch-Site", "cross-site")], as: .page) == .open)
        #expect(house.judge(as: .pairing) == .open)
    }

    @Test(
        "origins",
        arguments: [
            ([], true), ([("Origin", "http://box:8088")], true), ([("oRIGIN", "HTTP://BOX:8088")], true),
            ([("Origin", "https://ha.example:8123")], true), ([("Origin", "http://box:8089")], false),
            ([("Origin", "http://box")], false), ([("Origin", "https://box:8088")], false),
            ([("Origin", "null")], false), ([("Origin", "")], false), ([("Origin", "file://")], false),
            ([("Origin", "http://192.0.2.9:8088")], false), ([("Origin", "http://evil.example:8088")], false),
            ([("Origin", "http://box:8088.evil.example")], false), ([("Origin", "http://box:8088/")], false),
            ([("Origin", "http://box:8088"), ("Origin", "http://box:8088")], false),
            ([("Origin", "http://box:8088 http://evil.example")], false),
            ([("Sec-Fetch-Site", "same-origin")], true), ([("Sec-Fetch-Site", "none")], true),
            ([("Sec-Fetch-Site", "cross-site")], false), ([("Sec-Fetch-Site", "same-site")], false),
            ([("Sec-Fetch-Site", "cross-site"), ("Origin", "https://ha.example:8123")], true),
        ] as [([(String, String)], Bool)])
    @PlayerLoop func origins(headers: [(String, String)], isAllowed: Bool) throws {
        let house = try JudgeHouse("anonymous = read\norigins = https://ha.example:8123")
        defer { house.remove() }
        let admitted = AccessVerdict.admitted(AccessCaller(.anonymous, .read))
        #expect(house.judge(headers) == (isAllowed ? admitted : .foreign))
        #expect(house.judge(headers, as: .pairing) == (isAllowed ? .open : .foreign))
        // A page of the same machine is foreign too, for every user of the browser.
        let here = house.judge(headers, host: "localhost:8088", user: Self.owner)
        let isOwn = headers.allSatisfy { $0.1 != "http://box:8088" && $0.1 != "HTTP://BOX:8088" }
        #expect(here == (isAllowed && isOwn ? Self.user(Self.owner, .control) : .foreign))
        // Behind a proxy, either scheme may be the page's.
        #expect(house.judge([("Origin", "https://box:8088")], door: .proxy) == admitted)
    }

    @Test("the origins that get CORS") @PlayerLoop func sharing() throws {
        let house = try JudgeHouse("origins = https://ha.example:8123")
        defer { house.remove() }
        func shared(_ origin: String) -> String? { house.judge.sharedOrigin(of: house.request([("Origin", origin)])) }
        #expect(shared("https://ha.example:8123") == "https://ha.example:8123")
        #expect(shared("http://box:8088") == nil)
        #expect(shared("null") == nil)
        #expect(house.judge.sharedOrigin(of: house.request()) == nil)
    }

    @Test(
        "users of this machine",
        arguments: [
            (1000, "localhost:8088", [], user(1000, .control)), (1001, "127.0.0.1:8088", [], user(1001, .control)),
            (1002, "[::1]:8088", [], user(1002, .read)), (1003, "localhost", [], stranger),
            (0, "localhost", [], stranger), (nil, "localhost", [], stranger), (1000, "box:8088", [], stranger),
            (1000, "192.0.2.1", [], stranger), (1000, "127.0.0.2", [], stranger), (1000, "box.local", [], stranger),
            (1000, "localhost", [("Forwarded", "for=1")], stranger),
            (1000, "localhost", [("X-Forwarded-For", "")], stranger),
            (1000, "localhost", [("x-forwarded-anything", "1")], stranger),
            (1000, "localhost", [("VIA", "1.1 a")], stranger),
            (1000, "localhost", [("Tailscale-User-Login", "a")], stranger),
            (1000, "localhost", [("X-Real-IP", "192.0.2.9")], stranger),
            (1000, "localhost", [("X-Other", "1")], user(1000, .control)),
        ] as [(UInt32?, String, [(String, String)], AccessVerdict)])
    @PlayerLoop func users(user: UInt32?, host: String, headers: [(String, String)], expected: AccessVerdict) throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        #expect(house.judge(headers, host: host, user: user, address: "127.0.0.1") == expected)
        // Callers of a proxy have no user.
        #expect(house.judge(headers, host: host, door: .proxy, user: user, address: "127.0.0.1") == Self.stranger)
        // With anonymous = read, all callers without a role may read.
        let open = try JudgeHouse("anonymous = read")
        defer { open.remove() }
        let other = expected == Self.stranger ? .admitted(AccessCaller(.anonymous, .read)) : expected
        #expect(open.judge(headers, host: host, user: user, address: "127.0.0.1") == other)
    }

    @Test("tokens of headers and cookies") @PlayerLoop func tokens() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let (token, device) = try house.paired(.read)
        let admitted = AccessVerdict.admitted(AccessCaller(.device(id: device.id), .read))
        #expect(house.judge([("Authorization", "Bearer \(token)")]) == admitted)
        #expect(house.judge([("AUTHORIZATION", "bearer  \(token)")]) == admitted)
        #expect(house.judge([("Cookie", "a=b; nowplaying-8088=\(token); c=d")]) == admitted)
        #expect(house.judge([("Cookie", "a=b"), ("Cookie", "nowplaying-8088=\(token)")]) == admitted)
        #expect(house.judge([("Cookie", "nowplaying-80=\(token)")], host: "box") == admitted)
        // A device keeps its own rights on the daemon's machine.
        #expect(house.judge([("Cookie", "nowplaying-8088=\(token)")], host: "localhost:8088", user: 1000) == admitted)
        // The cookie of another port is another service's.
        #expect(house.judge([("Cookie", "nowplaying-8089=\(token)")]) == Self.stranger)
        #expect(house.judge([("Cookie", "xnowplaying-8088=\(token)")]) == Self.stranger)
        for header in ["Basic \(token)", token, "Bearer", "Bearer", ""] {
            #expect(house.judge([("Authorization", header)]) == Self.stranger)
        }
        let both = [("Authorization", "Bearer \(token)"), ("Authorization", "Bearer \(token)")]
        #expect(house.judge(both) == Self.stranger)
        #expect(house.judge([("Authorization", "Bearer x")]) == .refused(after: 0.5, hasCookie: false))
        #expect(house.judge([("Cookie", "nowplaying-8088=x")]) == .refused(after: 1, hasCookie: true))
        // A header counts before a cookie, and a wrong one is never overlooked.
        let mixed = [("Authorization", "Bearer x"), ("Cookie", "nowplaying-8088=\(token)")]
        #expect(house.judge(mixed) == .refused(after: 2, hasCookie: false))
        #expect(
            house.judge([("Authorization", "Bearer x")], host: "localhost", user: 1000)
                == .refused(after: 4, hasCookie: false))
        // A cookie that is left over does not lock the daemon's own user out.
        #expect(
            house.judge([("Cookie", "nowplaying-80=x")], host: "localhost", user: 1000) == Self.user(1000, .control))
        #expect(!house.log.contains { $0.contains(token) })
    }

    @Test("cookies that are set") @PlayerLoop func cookies() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        let ending = "; Path=/; Max-Age=34560000; HttpOnly; SameSite=Strict"
        #expect(house.request().cookie("T") == "nowplaying-8088=T" + ending)
        #expect(house.request(host: "box").cookie("T") == "nowplaying-80=T" + ending)
        #expect(house.request().cookie(nil) == "nowplaying-8088=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
        #expect(house.request(host: nil).cookie("T") == nil)
        let proxied = house.request([("X-Forwarded-Proto", "https")], host: "box", door: .proxy)
        #expect(proxied.cookie("T") == "nowplaying-443=T" + ending + "; Secure")
        // Only a proxy is believed.
        #expect(house.request([("X-Forwarded-Proto", "https")], host: "box").cookie("T") == "nowplaying-80=T" + ending)
        let tls = AccessConnection(door: .direct, address: "", user: nil, usesTLS: true)
        #expect(
            AccessRequest(tls, .call, headers: [("host", "box")]).cookie("T") == "nowplaying-443=T" + ending
                + "; Secure")
    }

    @Test("settings that change") @PlayerLoop func reload() throws {
        let house = try JudgeHouse()
        defer { house.remove() }
        #expect(house.judge(host: "new.lan") == .misdirected)
        var settings = WebSettings()
        try settings.take(Array("[web]\nhosts = new.lan\nanonymous = read\n".utf8), named: "file")
        house.judge.reload(settings, LocalUsers(owner: 5), machine: "box")
        #expect(house.judge(host: "new.lan") == .admitted(AccessCaller(.anonymous, .read)))
        #expect(
            house.judge(host: "localhost", user: 5) == .admitted(AccessCaller(.user(uid: 5, isOwner: true), .control)))
    }
}
