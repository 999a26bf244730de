import BridgeRuntime
import ControlProtocol
import Glibc
import Testing

@testable import WebAccess

/// Hosts of requests, and their allow-list.
@Suite struct HostTests {
    @Test(
        "hosts",
        arguments: [
            ("box", "box", nil, false), ("Box.LAN:8088", "box.lan", 8088, false), ("box.", "box", nil, false),
            ("127.0.0.1:80", "127.0.0.1", 80, true), ("[::1]:8088", "::1", 8088, true),
            ("[0:0:0:0:0:0:0:1]", "::1", nil, true), ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1", nil, true),
            ("a_b-c.d1", "a_b-c.d1", nil, false), ("xn--bcher-kva.example", "xn--bcher-kva.example", nil, false),
            ("1.box", "1.box", nil, false),
        ] as [(String, String, UInt16?, Bool)])
    func hosts(text: String, host: String, port: UInt16?, isLiteral: Bool) throws {
        let found = try #require(HostName(text))
        #expect(found.host == host && found.port == port && found.isLiteral == isLiteral)
    }

    @Test(
        "texts that are no hosts",
        arguments: [
            "", ".", "a..b", "a:", "a:0", "a:65536", "a:1:2", "a:+1", "a b", "a/b", "a@b", "::1", "[::1", "[::1]8",
            "[fe80::1%25eth0]", "[a]", "127.1", "2130706433", "0x7f.0.0.1", "127.0.0.256", "017700000001", "a,b", "ä",
            "a\u{0}", "a\r\nX: y", String(repeating: "a", count: 64), String(repeating: "a.", count: 127) + "aa",
        ])
    func noHosts(text: String) { #expect(HostName(text) == nil) }

    @Test(
        "the allow-list",
        arguments: [
            ("localhost", true), ("LOCALHOST:1", true), ("127.0.0.1", true), ("203.0.113.9", true),
            ("[2001:db8::1]", true),
            ("box", true), ("box.local", true), ("box.home.arpa", true), ("Box.Home.Arpa.:8088", true),
            ("named.lan", true),
            ("music.example.org", true), ("box.local.evil.example", false), ("evil.example", false),
            ("localhost.evil.example", false), ("box.lan", false), ("xbox", false), ("local", false),
            ("home.arpa", false), ("box.home.arpa.local", false), ("localhost.localdomain", false),
            ("sub.named.lan", false),
        ])
    func allowed(text: String, expected: Bool) throws {
        var settings = WebSettings()
        settings.hosts = ["named.lan"]
        settings.address = PublicAddress("https://music.example.org")
        let rule = HostRule(settings, machine: "Box.home.arpa")
        #expect(rule.allows(try #require(HostName(text))) == expected)
    }

    @Test("a machine without a usable name", arguments: ["", "(none)", "127.0.0.1", "localhost"])
    func nameless(machine: String) throws {
        let rule = HostRule(WebSettings(), machine: machine)
        #expect(rule.allows(try #require(HostName("localhost"))))
        #expect(!rule.allows(try #require(HostName("box"))))
    }

    @Test(
        "sources of guesses",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2::9", "2001:db8:1:2::/64"), ("fe80::1%eth0", "fe80::/64"), ("::1", "::/64"), ("", ""),
        ])
    func sources(address: String, source: String) {
        #expect(NetworkAddress.source(address) == source)
        let connection = AccessConnection(door: .proxy, address: "", user: nil, usesTLS: false)
        let request = AccessRequest(connection, .call, headers: [("X-Forwarded-For", "6.6.6.6, \(address)")])
        #expect(request.source == "proxy " + source)
    }

    @Test(
        "roles of users",
        arguments: [
            (1000, 1000, .control), (1000, 1001, .control), (1000, 1002, .read), (1000, 1003, nil),
            (1000, 1004, .control),
            (1000, 0, nil), (0, 0, .control),
        ] as [(UInt32, UInt32, ControlRole?)])
    func users(owner: UInt32, user: UInt32, role: ControlRole?) {
        let groups: [UInt32: Set<UInt32>] = [1001: [50], 1002: [60, 100], 1004: [60, 50], 0: [50]]
        let users = LocalUsers(owner: owner, controlGroup: 50, readGroup: 60) { groups[$0] ?? [] }
        #expect(users.role(of: user) == role)
        #expect(users.isOwner(user) == (user == owner))
    }

    @Test("a group that does not exist") func missingGroup() throws {
        var settings = WebSettings()
        try settings.take(Array("[access]\nread-group = no-such-group-here\n".utf8), named: "file")
        #expect(throws: BridgeFailure.self) { try LocalUsers(settings, owner: 1) }
        // The system's tables know root's own group.
        #expect(LocalUsers.groups(of: 0).contains(0))
    }
}
