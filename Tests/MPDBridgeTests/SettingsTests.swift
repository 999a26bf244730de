import BridgeRuntime
import ConfigurationFiles
import Glibc
import LinuxSystem
import MPDProtocol
import TestSupport
import Testing

@testable import MPDBridge

/// Addresses, passwords, names and flags.
@Suite struct SettingsTests {
    @Test(
        "addresses",
        arguments: [
            ("localhost:6600", .network(host: "localhost", port: 6600)),
            ("localhost", .network(host: "localhost", port: 6600)),
            ("*:1", .network(host: "*", port: 1)), ("[::1]:6601", .network(host: "::1", port: 6601)),
            ("[::1]", .network(host: "::1", port: 6600)), ("/run/mpd/socket", .local(path: "/run/mpd/socket")),
            ("", nil), (":6600", nil), ("a:b", nil), ("a:0", nil), ("a:65536", nil), ("::1", nil), ("a b", nil),
            ("[::1]x", nil),
        ] as [(String, BindAddress?)])
    func addresses(text: String, expected: BindAddress?) {
        #expect(BindAddress(text) == expected)
        if let expected { #expect(BindAddress(expected.text) == expected) }
    }

    @Test("a section") func section() throws {
        var settings = MPDSettings()
        let text = """
            [mpd]
            bind = localhost:6600
                /run/mpd/socket
            announce-bind = localhost:6601
            password = se@cret@read,add
            local-permissions = read
            default-permissions = none
            """
        try settings.take(Array(text.utf8), named: "file")
        #expect(settings.bind == [.network(host: "localhost", port: 6600), .local(path: "/run/mpd/socket")])
        #expect(settings.announceBind == [.network(host: "localhost", port: 6601)])
        #expect(settings.passwords.map(\.word) == ["se@cret"])
        #expect(settings.passwords.map(\.permissions) == [[.read, .add]])
        #expect(settings.localPermissions == .read)
        #expect(settings.defaultPermissions == [])
        #expect(settings.contradiction == nil)
        for line in [
            "bind = a:b", "password = word", "password = word@write", "password = @read", "default-permissions = x",
            "port = 1",
        ] {
            #expect(throws: ConfigurationError.self) {
                var other = MPDSettings()
                try other.take(Array("[mpd]\n\(line)\n".utf8), named: "file")
            }
        }
    }

    @Test("rights of users and of passwords") func rights() throws {
        var settings = MPDSettings()
        settings.passwords = [MPDSettings.Password("one@read"), MPDSettings.Password("two@read,admin")].compactMap {
            $0
        }
        settings.defaultPermissions = .read
        let rights = PeerRights(settings, owner: 1000)
        #expect(rights.rights(of: 1000) == [.read, .add, .player, .control, .admin])
        #expect(rights.rights(of: 0) == .read)
        #expect(rights.rights(of: 1001) == .read)
        #expect(rights.rights(of: nil) == .read)
        #expect(rights.rights(forPassword: Array("two".utf8)) == [.read, .admin])
        #expect(rights.rights(forPassword: Array("tw".utf8)) == nil)
        #expect(rights.rights(forPassword: []) == nil)
    }

    @Test("names lead back to their files") func names() {
        let one = SongNames([SongNames.Root(name: Array("Music".utf8), path: Array("/music".utf8))])
        #expect(one.name(of: "file:///music/a/b%20c.flac") == Array("a/b c.flac".utf8))
        #expect(one.uri(of: Array("a/b c.flac".utf8)) == "/music/a/b c.flac")
        #expect(one.uri(of: []) == "/music")
        #expect(one.name(of: "file:///musical/x") == Array("file:///musical/x".utf8))
        #expect(one.name(of: "http://radio/") == Array("http://radio/".utf8))
        #expect(one.uri(of: Array("http://radio/".utf8)) == "http://radio/")
        #expect(one.uri(of: Array("a/../../etc".utf8)) == nil)
        let foreign: [UInt8] = [0x63, 0xE9, 0x2E, 0x6D, 0x70, 0x33]
        #expect(one.uri(of: foreign).map(one.name) == foreign)
        let two = SongNames(
            ["/a", "/b"].map { SongNames.Root(name: Array($0.utf8.dropFirst()), path: Array($0.utf8)) })
        #expect(two.name(of: "file:///b/x.mp3") == Array("b/x.mp3".utf8))
        #expect(two.uri(of: Array("b/x.mp3".utf8)) == "/b/x.mp3")
        #expect(two.uri(of: Array("c/x.mp3".utf8)) == nil)
    }

    @Test("channels carry messages to those who follow them") func channels() async throws {
        try await LoopThread.run { try Self.exchange() }
    }

    @PlayerLoop private static func exchange() throws {
        var board = MessageBoard()
        try board.subscribe(1, "a")
        #expect(throws: MPDFailure(.exist, "already subscribed to this channel")) { try board.subscribe(1, "a") }
        #expect(throws: MPDFailure(.argument, "invalid channel name")) { try board.subscribe(1, "a b") }
        #expect(throws: MPDFailure(.noExist, "nobody is subscribed to this channel")) { try board.send("b", "x") }
        for number in 0..<100 { #expect(try board.send("a", "\(number)") == [1]) }
        #expect(board.take(1).map(\.text) == (0..<64).map(String.init))
        #expect(board.take(1) == [])
        for number in 1..<16 { try board.subscribe(1, "c\(number)") }
        #expect(throws: MPDFailure(.exist, "subscription list is full")) { try board.subscribe(1, "more") }
        var noted: [Subsystem] = []
        board.forget(1) { noted.append($0) }
        #expect(noted == [.subscription])
        #expect(board.names == [])
        #expect(throws: MPDFailure(.noExist, "not subscribed to this channel")) { try board.unsubscribe(1, "a") }
    }

    @Test("the kernel names the user of a connection within this machine") func loopback() throws {
        let (listeners, _) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
        let listener = try #require(listeners.first)
        defer { close(listener.descriptor) }
        let port = try #require(UInt16(listener.address.split(separator: ":").last ?? ""))
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(result == 0)
        let accepted = try UnixSocket.accept(listener.descriptor)
        defer { close(accepted) }
        #expect(TCPSocket.localUser(accepted) == geteuid())
        // A client that has sent everything, such as "nc -N", still has its socket.
        shutdown(client, Int32(SHUT_WR))
        #expect(TCPSocket.localUser(accepted) == geteuid())
        // The kernel would name user 0 for a socket that was closed.
        close(client)
        #expect(TCPSocket.localUser(accepted) == nil)
        #expect(throws: SystemError.self) { try TCPSocket.listen(host: "127.0.0.1", port: port) }
    }
}
