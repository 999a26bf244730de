import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Clients whose user the bridge does not know, as those of other machines.
@Suite(.timeLimit(.minutes(5)), .serialized, .enabled(if: NetworkAddress() != nil, "this machine has no network"))
struct NetworkClientTests {
    private let folder = TemporaryFolder()

    @Test("stored playlists give a client of the network no file that it may not add") func playlists() async throws {
        let address = try #require(NetworkAddress())
        let music = folder.folder("music")
        _ = folder.silence("music/a.wav", seconds: 1)
        let shared = folder.folder("shared")
        let files = [folder.silence("shared/b.wav", seconds: 1), folder.silence("secret.wav", seconds: 1)]
        let rights = "default-permissions = read,add,player,control\n[access]\nmedia-roots = \(music)\n  \(shared)\n"
        let house = await MPDHouse.start("  \(address.text)\n" + rights, in: folder, music: (music, 1))
        let owner = try house.client()
        let allowed = ["a.wav", "http://127.0.0.1:9/x"]
        let mixed = files.map { "file://" + $0 } + allowed
        for name in mixed { #expect(try owner.ask("playlistadd mixed \(name)") == ["OK"]) }
        let other = try LineClient(connected: address.connect())
        for name in files + files.map({ "file://" + $0 }) + files.map({ "FILE://" + $0 }) {
            #expect(try other.ask("add \(name)") == ["ACK [4@0] {add} Access denied"])
            #expect(try other.ask("playlistadd own \(name)") == ["ACK [4@0] {playlistadd} Access denied"])
        }
        for name in allowed { #expect(try other.ask("playlistadd own \(name)") == ["OK"]) }
        #expect(try other.ask("listplaylist own") == allowed.map { "file: " + $0 } + ["OK"])
        for line in ["load mixed", "load mixed 0:2", "load own"] { #expect(try other.ask(line) == ["OK"]) }
        #expect(try self.files(owner) == allowed + allowed)
        for line in ["clear", "load mixed"] { #expect(try owner.ask(line) == ["OK"]) }
        #expect(try self.files(owner) == mixed)
    }

    private func files(_ client: LineClient) throws -> [String] {
        try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") }.map { String($0.dropFirst(6)) }
    }
}

/// An address of this machine that is no loopback, with a port that is free.
private struct NetworkAddress {
    private var address: sockaddr_in

    /// The first address of version 4; nil: this machine has none.
    init?() {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var entry = list
        while let here = entry {
            entry = here.pointee.ifa_next
            let isLoopback = here.pointee.ifa_flags & UInt32(IFF_LOOPBACK) != 0
            guard let found = here.pointee.ifa_addr, Int32(found.pointee.sa_family) == AF_INET, !isLoopback else {
                continue
            }
            address = UnsafeRawPointer(found).loadUnaligned(as: sockaddr_in.self)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            address.sin_port = 0
            let isFree = Self.use(&address) { bind(descriptor, $0, length) | getsockname(descriptor, $0, &length) } == 0
            if isFree { return }
        }
        return nil
    }

    /// The address with its port.
    var text: String {
        let bytes = withUnsafeBytes(of: address.sin_addr.s_addr) { $0.map { String($0) } }
        return bytes.joined(separator: ".") + ":\(UInt16(bigEndian: address.sin_port))"
    }

    /// A socket that is connected to it.
    func connect() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = address
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = Self.use(&address) { Glibc.connect(descriptor, $0, length) }
        guard result == 0 else { throw SystemError("connect to \(text)") }
        return descriptor
    }

    private static func use(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Int32
    ) -> Int32 {
        withUnsafeMutablePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }
}
