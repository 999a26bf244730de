import ControlProtocol
import Glibc
import TestSupport
import Testing

@testable import nowplayingctl

/// Findings about the way to the rooms, each of which is broken in turn.
@Suite(.timeLimit(.minutes(5))) struct RoomsCheckTests {
    private static let script: JSONObject = JSONObject([.init("controlscript", "/usr/bin/nowplaying-snapcast")])

    /// A source with these parameters, whose control script answers.
    private static func source(_ changes: JSONObject.Member..., canControl: Bool = false) -> JSONValue {
        var query = script
        query["codec"] = "pcm"
        for change in changes { query[change.name] = change.value }
        let properties = JSONObject([.init("playbackStatus", "playing"), .init("canControl", .bool(canControl))])
        return FakeSnapserver.source(query, properties: properties)
    }

    /// Findings as `level: text` with all that follows.
    private func lines(
        _ server: FakeSnapserver, format: String? = "48000:16:2", buffer: Double? = nil, port: String? = "4953",
        isPlaying: Bool = true
    ) -> [String] {
        defer { server.stop() }
        return RoomsCheck(host: server.host, port: port, format: format, buffer: buffer, isPlaying: isPlaying)
            .findings().map { "\($0.level.rawValue): \($0.found) | \($0.meaning ?? "") | \($0.action ?? "")" }
    }

    private func expect(_ lines: [String], _ start: String, _ words: String = "") {
        #expect(lines.contains { $0.hasPrefix(start) && $0.contains(words) }, "\(lines)")
    }

    @Test("all is well") func well() {
        let server = FakeSnapserver(Self.source())
        let found = lines(server)
        #expect(found.count == 5 && found.allSatisfy { $0.hasPrefix("ok: ") }, "\(found)")
        expect(found, "ok: the Snapcast server at \(server.host) answers: 0.26.0")
        expect(found, "ok: the source “music” takes 48000:16:2, bit for bit")
        expect(found, "ok: music reaches a room ", "ms before it plays, of a buffer of 1000 ms")
        expect(found, "ok: nowplaying-snapcast answers; apps of Snapcast can only look")
        expect(found, "ok: 1 room: Kitchen")
        // The look leaves no room behind.
        #expect(
            server.requests.contains { $0.hasPrefix("Server.DeleteClient") && $0.contains("nowplayingctl-\(getpid())") }
        )
    }

    @Test("a server that is not reached, or speaks something else") func unreachable() {
        let gone = FakeSnapserver(nil)
        gone.stop()
        expect(lines(gone), "warning: the Snapcast server at \(gone.host) cannot be reached", "port 1705")
        expect(lines(FakeSnapserver(nil) { _ in .hangUp }), "warning: ", "closed the connection before it answered")
        expect(lines(FakeSnapserver(nil) { _ in .silence }), "warning: ", "did not answer within 2 s | ")
        expect(lines(FakeSnapserver(nil) { _ in .silence }), "warning: ", "Restart it")
        expect(
            lines(FakeSnapserver(nil) { _ in .error(-32601, "no\u{1B}[31m", .null) }), "warning: ",
            "refuses: no\u{FFFD}[31m")
    }

    @Test("the source: none, of another port, of another format, with a codec") func sources() {
        expect(lines(FakeSnapserver(nil)), "fault: the server has no source", "setup rooms")
        let other = FakeSnapserver.source(host: "127.0.0.1:4999")
        expect(lines(FakeSnapserver(other)), "fault: the server has no source")
        expect(lines(FakeSnapserver(other), port: "4999"), "note: the source “music”")
        let wide = Self.source(.init("sampleformat", "44100:24:2"))
        expect(
            lines(FakeSnapserver(wide)),
            "fault: the daemon sends 48000:16:2, and the source “music” takes 44100:24:2 | the daemon sends nothing",
            ",44100:24:2")
        expect(lines(FakeSnapserver(wide), format: nil), "ok: the source “music” takes 44100:24:2")
        expect(lines(FakeSnapserver(Self.source(.init("codec", "flac")))), "note: ", "codec=pcm")
    }

    @Test("the stream: closed, with another buffer, without music, late") func streams() {
        func server(_ stream: FakeSnapserver.Stream?) -> FakeSnapserver {
            FakeSnapserver(Self.source(), stream: stream)
        }
        expect(lines(server(nil)), "warning: the server's port 1704 does not answer", "1704 in the firewall")
        expect(
            lines(server(.init(buffer: 400)), buffer: 1),
            "warning: snapcast-buffer is 1000 ms, and the server's buffer 400 ms", "set it to 400")
        expect(lines(server(.init()), buffer: 1), "ok: music reaches a room ")
        expect(lines(server(.init(age: nil))), "warning: the daemon plays, but the server sends no music", "rooms")
        expect(lines(server(.init(age: nil)), isPlaying: false), "ok: rooms play 1000 ms after the server")
        expect(lines(server(.init(age: 3))), "warning: music reaches a room ", "ms too late")
    }

    @Test("the control script: none, silent, with commands") func scripts() {
        let none = FakeSnapserver.source(JSONObject([.init("codec", "pcm")]))
        expect(lines(FakeSnapserver(none)), "note: apps of Snapcast see no title and no picture", "setup rooms")
        let silent = FakeSnapserver.source(Self.script)
        expect(lines(FakeSnapserver(silent)), "warning: nowplaying-snapcast does not answer", "journalctl")
        expect(
            lines(FakeSnapserver(Self.source(canControl: true))),
            "ok: nowplaying-snapcast answers; everybody in the LAN can pause")
    }

    @Test("rooms that play another stream") func otherStream() {
        // The rooms play “music”.
        let query = JSONObject([.init("codec", "pcm"), .init("controlscript", "/usr/bin/nowplaying-snapcast")])
        let other = FakeSnapserver.source(query, name: "second")
        expect(
            lines(FakeSnapserver(other, [.init(name: "It's\u{1B}[31m"), .init(isConnected: false)])),
            "warning: not on the daemon's stream “second”: It's\u{FFFD}[31m (“music”) | these rooms do not hear",
            "rooms 'It'\\''s\u{FFFD}[31m' --stream second; new rooms")
        #expect(!lines(FakeSnapserver(Self.source())).contains { $0.contains("not on the daemon's stream") })
    }

    @Test("the rooms: none, many, hostile") func rooms() {
        expect(lines(FakeSnapserver(Self.source(), [])), "warning: no room is connected", "snapclient")
        expect(lines(FakeSnapserver(Self.source(), [.init(isConnected: false)])), "warning: no room is connected")
        let mixed: [FakeSnapserver.Room] = [
            .init(name: "Bath\u{1B}]0;x\u{07}\u{202E}", isMuted: true, latency: -40),
            .init(name: "", isConnected: false),
            .init(),
        ]
        expect(
            lines(FakeSnapserver(Self.source(), mixed)),
            "ok: 3 rooms: Bath\u{FFFD}]0;x\u{FFFD} (latency -40 ms, muted), box (not connected), Kitchen")
        let many = [FakeSnapserver.Room](repeating: .init(), count: 20)
        expect(lines(FakeSnapserver(Self.source(), many)), "ok: 20 rooms: ", "Kitchen, …")
    }
}
