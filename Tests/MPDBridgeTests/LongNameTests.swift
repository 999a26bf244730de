import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Songs with names so long that one request to the library has no room for all of them.
@Suite(.timeLimit(.minutes(5)), .serialized) struct LongNameTests {
    private static let songs = 120
    private let folder = TemporaryFolder()

    /// A house with songs `000.wav` and on below folders with long names.
    private func house() async -> MPDHouse {
        let music = folder.folder("music")
        let part = String(repeating: "é", count: 120)
        var place = "music"
        for _ in 0..<3 {
            place += "/" + part
            mkdir(folder.path(place), 0o755)
        }
        for number in 0..<Self.songs { _ = folder.silence(place + "/" + Self.name(number), seconds: 1) }
        return await MPDHouse.start(in: folder, music: (music, Self.songs))
    }

    private static func name(_ number: Int) -> String { String(String(1000 + number).dropFirst()) + ".wav" }

    private func files(_ client: LineClient, _ request: String) throws -> [String] {
        try client.ask(request).filter { $0.hasPrefix("file: ") }.map { String($0.split(separator: "/").last ?? "") }
    }

    @Test("all of them come to a place in a playlist and in the queue, in their order") func places() async throws {
        let house = await house()
        let client = try house.client()
        let all = (0..<Self.songs).map(Self.name)
        #expect(try client.ask("playlistadd x http://127.0.0.1:9/first") == ["OK"])
        #expect(try client.ask("playlistadd x http://127.0.0.1:9/last") == ["OK"])
        #expect(try client.ask("playlistadd x \"\" 1") == ["OK"])
        #expect(try files(client, "listplaylist x") == ["first"] + all + ["last"])
        // Files that are away are left out, and move nothing.
        for number in 0..<3 { #expect(try client.ask("playlistadd y file:///nowhere/\(number).wav") == ["OK"]) }
        #expect(try client.ask("playlistadd y \"\" 3") == ["OK"])
        for name in ["first", "last"] { #expect(try client.ask("add http://127.0.0.1:9/\(name)") == ["OK"]) }
        #expect(try client.ask("load y 1: 1") == ["OK"])
        #expect(try files(client, "playlistinfo") == ["first"] + all + ["last"])
    }
}
