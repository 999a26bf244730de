import BridgeRuntime
import ConfigurationFiles
import Testing

@testable import WebAccess

/// The section `[web]` and its addresses.
@Suite struct WebSettingsTests {
    @Test(
        "addresses to listen at",
        arguments: [
            ("localhost:8088", .network(host: "localhost", port: 8088)),
            ("localhost", .network(host: "localhost", port: 8088)), ("*:0", .network(host: "*", port: 0)),
            ("[::1]:1", .network(host: "::1", port: 1)), ("[::1]", .network(host: "::1", port: 8088)),
            ("/run/x.sock", .local(path: "/run/x.sock")), ("", nil), (":1", nil), ("a:b", nil), ("a:+1", nil),
            ("a:65536", nil), ("::1", nil), ("a b", nil), ("[::1]x", nil), ("a/b:1", nil), ("a:", nil),
        ] as [(String, WebAddress?)])
    func addresses(text: String, expected: WebAddress?) {
        #expect(WebAddress(text) == expected)
        if let expected { #expect(WebAddress(expected.text) == expected) }
    }

    @Test(
        "the address for others",
        arguments: [
            ("box.lan", false, "http://box.lan:81/"), ("box.lan", true, "https://box.lan:81/"),
            ("box.lan:9", false, "http://box.lan:9/"), ("BOX.lan.:80", false, "http://box.lan/"),
            ("https://music.example.org", false, "https://music.example.org/"),
            ("https://music.example.org/", false, "https://music.example.org/"),
            ("http://[fd00::1]:8088", true, "http://[fd00::1]:8088/"), ("192.0.2.7", false, "http://192.0.2.7:81/"),
            ("https://a/b", false, nil), ("ftp://a", false, nil), ("a b", false, nil), ("", false, nil),
            ("user@a", false, nil), ("https://", false, nil),
        ] as [(String, Bool, String?)])
    func publicAddress(text: String, usesTLS: Bool, expected: String?) {
        #expect(PublicAddress(text)?.url(usesTLS: usesTLS, port: 81) == expected)
    }

    @Test("a section, and the groups of the daemon") func section() throws {
        var settings = WebSettings()
        #expect(settings.listeners == [.network(host: "localhost", port: 8088)])
        let text = """
            [access]
            control-group = audio
            read-group = 7
            socket-mode = whatever
            [web]
            bind = *:8088
                [::1]:0
            proxy-bind = /run/p.sock
            address = https://music.example.org
            hosts = Box.lan, other.home.arpa
                third
            anonymous = read
            origins = https://ha.example.org:8123, http://wall.lan
            certificate = /etc/c.pem
            key = /etc/k.pem
            state-directory = /var/lib/x
            speech = /usr/bin/espeak-ng --stdin -v de
            """
        try settings.take(Array(text.utf8), named: "file")
        #expect(settings.bind == [.network(host: "*", port: 8088), .network(host: "::1", port: 0)])
        #expect(settings.proxyBind == [.local(path: "/run/p.sock")])
        #expect(settings.hosts == ["box.lan", "other.home.arpa", "third"])
        #expect(settings.anonymous == .read)
        #expect(settings.origins == ["https://ha.example.org:8123", "http://wall.lan:80"].compactMap(WebOrigin.init))
        #expect(settings.usesTLS)
        #expect(settings.stateDirectory == "/var/lib/x")
        #expect(settings.speech == ["/usr/bin/espeak-ng", "--stdin", "-v", "de"])
        #expect(settings.controlGroup == "audio")
        #expect(settings.readGroup == "7")
        #expect(settings.contradiction == nil)
        // A later file replaces lists, and an empty one clears them.
        try settings.take(Array("[web]\nhosts =\norigins =\nbind = localhost:1\n".utf8), named: "later")
        #expect(settings.hosts.isEmpty && settings.origins.isEmpty)
        #expect(settings.bind == [.network(host: "localhost", port: 1)])
    }

    @Test(
        "lines that are refused",
        arguments: [
            ("bind = /run/x.sock", "addresses such as"), ("bind = a:b", "addresses such as"),
            ("proxy-bind = a:b", "addresses such as"), ("address = a/b", "an address such as"),
            ("hosts = 192.0.2.1", "names such as"), ("hosts = a:1", "names such as"), ("hosts = a,,b", "names such as"),
            ("hosts = *.lan", "names such as"), ("anonymous = control", "none or read"),
            ("origins = ha.example.org", "origins such as"), ("origins = null", "origins such as"),
            ("origins = https://a/b", "origins such as"), ("origins = *", "origins such as"),
            ("certificate = c.pem", "an absolute path"), ("state-directory = x", "an absolute path"),
            ("snapcast-server = a b", "a server such as box.lan"),
            ("speech = espeak-ng --stdin", "an absolute path"), ("port = 1", "unknown setting"),
            ("host = a", "did you mean “hosts”"),
        ])
    func refused(line: String, words: String) throws {
        var settings = WebSettings()
        do {
            try settings.take(Array("[web]\n\(line)\n".utf8), named: "file")
            Issue.record("it was taken")
        } catch {
            #expect(error.messages.count == 1)
            #expect(error.messages[0].hasPrefix("file:2: "))
            #expect(error.messages[0].contains(words))
        }
    }

    @Test("contradictions") func contradictions() throws {
        func contradiction(_ text: String) throws -> String? {
            var settings = WebSettings()
            try settings.take(Array("[web]\n\(text)\n".utf8), named: "file")
            return settings.contradiction
        }
        #expect(try contradiction("certificate = /c")?.contains("belong together") == true)
        #expect(try contradiction("key = /k")?.contains("belong together") == true)
        #expect(try contradiction("bind = a:1\nproxy-bind = a:1")?.contains("same address a:1") == true)
        #expect(try contradiction("bind = a:0\nproxy-bind = a:0") == nil)
    }
}
