import AudioDecoders
import Glibc
import Synchronization
import TestSupport
import Testing

/// Allowed redirects, and receivers of a name and a password.
@Suite(.enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct RemoteTrustTests {
    private static let file = AudioMaterial.noise(frames: 20_000).wave()

    /// A server that leads from `/N` to `/N-1` and has a file at `/0`; `/to?URL` leads to a URL.
    private static func chain(onAllAddresses: Bool = false) -> HTTPServer {
        HTTPServer(onAllAddresses: onAllAddresses) { request, connection in
            let number = Int(request.target.dropFirst()) ?? -1
            if request.target.hasPrefix("/to?") {
                connection.answer("302 Found", ["Location: \(request.target.dropFirst(4))"])
            } else if request.target.hasPrefix("/list?") {
                connection.answer(
                    "200 OK", ["Content-Type: audio/x-scpls"],
                    Array("[playlist]\nFile1=\(request.target.dropFirst(6))\n".utf8))
            } else if number > 0 {
                connection.answer("301 Moved", ["Location: \(number - 1)"])
            } else {
                connection.file(file, type: "audio/wav", request)
            }
        }
    }

    @Test("ten redirects are followed, eleven are not, nor is one to another protocol")
    func redirects() {
        let server = Self.chain()
        #expect(refusal(server.url("/10")) == "")
        #expect(refusal(server.url("/11")).contains("too many redirects"))
        #expect(server.requests.count == 22)
        for address in ["file:///etc/passwd", "ftp://127.0.0.1/a", "data:audio/wav;base64,AAAA", "gopher://127.0.0.1"] {
            #expect(refusal(server.url("/to?\(address)")).contains("neither http"), "\(address)")
        }
    }

    @Test(
        "what is this machine is refused to others, however it is written",
        arguments: ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "[::1]", "[::ffff:127.0.0.1]"])
    func loopback(_ host: String) {
        let server = Self.chain()
        #expect(refusal(server.url("/0", host: host), isOwners: false).contains("this machine"))
        #expect(server.requests.isEmpty)
    }

    @Test("nobody's address is refused to everybody", arguments: ["0.0.0.0", "[::]", "224.0.0.1", "255.255.255.255"])
    func nobody(_ host: String) {
        let server = Self.chain()
        #expect(refusal(server.url("/0", host: host)) != "")
        #expect(server.requests.isEmpty)
    }

    @Test(
        "what was found in the internet leads to no address of this network",
        arguments: [
            "127.0.0.1", "10.1.2.3", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "[::1]", "[fe80::1]",
            "[fd00::1]", "[::ffff:10.1.2.3]", "[64:ff9b::a01:203]",
        ])
    func rebinding(_ host: String) {
        let server = Self.chain()
        #expect(refusal(server.url("/0", host: host), wasPublic: true).contains("nearer"))
        #expect(server.requests.isEmpty)
    }

    @Test("a name that is found to be this machine is judged as this machine")
    func names() throws {
        var name = [CChar](repeating: 0, count: 256)
        try #require(gethostname(&name, 255) == 0)
        let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let server = Self.chain()
        let words = refusal(server.url("/0", host: host), isOwners: false, wasPublic: true)
        #expect(words.contains("nearer") || words.contains("unknown host"), "\(words)")
        #expect(server.requests.isEmpty)
        if words.contains("nearer") { #expect(refusal(server.url("/0", host: host)) == "") }
    }

    @Test(
        "the local network leads nobody to this machine, by a redirect or a list",
        .enabled(if: localAddress() != nil, "this machine has no address in a local network"))
    func nearer() throws {
        let host = try #require(localAddress())
        let server = Self.chain(onAllAddresses: true)
        #expect(refusal(server.url("/2", host: host)) == "")
        #expect(refusal(server.url("/to?\(server.url("/0", host: host))")) == "")
        let before = server.requests.count
        for way in ["/to?", "/list?"] {
            #expect(refusal(server.url("\(way)\(server.url("/0"))", host: host)).contains("nearer"))
        }
        // Also where a connection to that place is open by way of one that was allowed.
        let back = server.url("/to?\(server.url("/0"))", host: host)
        #expect(refusal(server.url("/to?\(back)")).contains("nearer"))
        #expect(server.requests.count == before + 4)
    }

    @Test("a name and a password are for the server that they were given for")
    func credentials() throws {
        let other = Self.chain()
        let server = HTTPServer { request, connection in
            guard request.fields["authorization"] == "Basic dXNlcjpwQHNz" else {
                return connection.answer("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"x\""])
            }
            switch request.target {
            case "/away": connection.answer("302 Found", ["Location: \(other.url("/0"))"])
            case "/list":
                connection.answer("200 OK", ["Content-Type: audio/x-mpegurl"], Array("\(other.url("/0"))\n".utf8))
            case "/here": connection.answer("302 Found", ["Location: /0"])
            default: connection.file(Self.file, type: "audio/wav", request)
            }
        }
        for path in ["/0", "/here", "/away", "/list"] {
            #expect(refusal(server.url(path, user: "user:p%40ss@")) == "", "\(path)")
        }
        #expect(other.requests.count == 2)
        #expect(other.requests.allSatisfy { $0.fields["authorization"] == nil && $0.fields["referer"] == nil })
        for user in ["", "user:wrong@"] {
            let words = refusal(server.url("/0", user: user))
            #expect(words.contains("user name and a password") && !words.contains("wrong"), "\(words)")
        }
    }

    @Test("a server whose certificate nobody vouches for is refused, and taken with the right authority")
    func certificates() throws {
        let folder = TemporaryFolder()
        let file = [UInt8]("HTTP/1.0 200 OK\r\nContent-Type: audio/wav\r\n\r\n".utf8) + Self.file
        _ = folder.write(file, "a.wav")
        for name in ["right", "wrong"] {
            let made = AudioMaterial.run(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                    folder.path("\(name).key"), "-out", folder.path("\(name).pem"),
                ])
            try #require(made == 0)
        }
        let command = "exec openssl s_server -accept 127.0.0.1:0 -cert right.pem -key right.key -HTTP"
        let server = TestProcess(["sh", "-c", "cd \(folder.path) && \(command)"], output: true)
        defer { server.end() }
        // It names its port as soon as it listens.
        let port = try #require(server.line { $0.hasPrefix("ACCEPT") }?.split(separator: ":").last)
        let address = "https://127.0.0.1:\(port)/a.wav"
        let right = folder.path("right.pem")
        #expect(refusal(address, certificates: right) == "")
        #expect(refusal(address).contains("certificate"))
        #expect(refusal(address, certificates: folder.path("wrong.pem")).contains("certificate"))
        #expect(refusal(address.replacing("127.0.0.1", with: "localhost"), certificates: right).contains("certificate"))
    }
}
