import ControlProtocol
import Glibc
import LinuxSystem
import MPDProtocol
import TestSupport
import Testing

@testable import MPDBridge

/// Command lists whose additions and removals reach the daemon together. Answers and queue are those of one after the other.
@Suite(.timeLimit(.minutes(5)), .serialized) struct JointTests {
    private static let songs = 12
    private let folder = TemporaryFolder()

    /// A house with songs `0.wav` to `11.wav`, of which the last three lie in the folder `more`; each name as clients of
    /// that house write it.
    private func house(library: Bool) async -> (MPDHouse, [String]) {
        let music = folder.folder("music")
        mkdir(music + "/more", 0o755)
        let names = (0..<Self.songs).map { $0 < 9 ? "\($0).wav" : "more/\($0).wav" }
        for name in names { _ = folder.silence("music/" + name, seconds: 1) }
        let house = await MPDHouse.start(in: folder, music: library ? (music, Self.songs) : nil)
        return (house, library ? names : names.map { music + "/" + $0 })
    }

    /// Answers of a list, one for each line, and its end.
    private func list(_ lines: [String], _ client: LineClient) throws -> (answers: [[String]], end: String) {
        try client.send((["command_list_ok_begin"] + lines + ["command_list_end"]).joined(separator: "\n"))
        var answers = try client.answer()[...]
        let end = answers.removeLast()
        var parts: [[String]] = [[]]
        for line in answers {
            if line == "list_OK" { parts.append([]) } else { parts[parts.count - 1].append(line) }
        }
        parts.removeLast()
        return (parts, end)
    }

    private func files(_ client: LineClient) throws -> [String] {
        try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") }
            .map { String($0.split(separator: "/").last ?? "").replacing("file: ", with: "") }
    }

    private func version(_ house: MPDHouse) throws -> Int64 {
        try house.daemonClient().result("queue.list", ["limit": 1])["version"]?.integerValue ?? 0
    }

    @Test("thousands of additions and removals are a few changes of the queue", arguments: [false, true])
    func many(library: Bool) async throws {
        let (house, names) = await house(library: library)
        let client = try house.client()
        let before = try version(house)
        try client.send("command_list_begin")
        for number in 0..<5000 { try client.send("add \(names[number % names.count])") }
        #expect(try client.ask("command_list_end") == ["OK"])
        #expect(try client.value("playlistlength", of: "status") == "5000")
        #expect(try version(house) - before < 10)
        #expect(try client.ask("playlistinfo 4999")[0].hasSuffix("7.wav"))
        // Rows of which a page is more than waits for a reader.
        #expect(try client.ask("playlistinfo 0:2000").count { $0.hasPrefix("Pos: ") } == 2000)
        try client.send("command_list_begin")
        for _ in 0..<5000 { try client.send("delete 0") }
        #expect(try client.ask("command_list_end") == ["OK"])
        #expect(try client.value("playlistlength", of: "status") == "0")
        #expect(try version(house) - before < 12)
    }

    @Test("each addid has its own id, at the end and at ascending indices", arguments: [false, true])
    func ids(library: Bool) async throws {
        let (house, names) = await house(library: library)
        let client = try house.client()
        let added = try list((0..<100).map { "addid \(names[$0 % names.count])" }, client)
        #expect(added.end == "OK")
        #expect(added.answers.count == 100 && added.answers.allSatisfy { $0.count == 1 && $0[0].hasPrefix("Id: ") })
        let inserted = try list(names.enumerated().map { "addid \($1) \($0 + 5)" } + ["add \(names[0])"], client)
        #expect(inserted.end == "OK" && inserted.answers.last == [])
        let round = (0..<100).map { $0 % names.count }
        let expected: [Int] = Array(round[..<5]) + Array(0..<names.count) + Array(round[5...]) + [0]
        #expect(try files(client) == expected.map { "\($0).wav" })
        let ids = try client.ask("playlistinfo").filter { $0.hasPrefix("Id: ") }
        let answered: [String] = added.answers.flatMap { $0 }
        let between: [String] = inserted.answers.flatMap { $0 }
        let wanted: [String] = answered[..<5] + between + answered[5...]
        #expect(Array(ids.dropLast()) == wanted)
        // Each song goes by its id, half of them and one twice.
        let removals = ids.prefix(60).map { "deleteid " + $0.dropFirst(4) }
        let removed = try list(removals + [removals[59]] + ["clear"], client)
        #expect(removed.answers.count == 60)
        #expect(removed.end == "ACK [50@60] {deleteid} No such song")
        #expect(try files(client) == expected.dropFirst(60).map { "\($0).wav" })
    }

    @Test("a line at fault ends the list; those before it are done", arguments: [false, true])
    func faults(library: Bool) async throws {
        let (house, names) = await house(library: library)
        let client = try house.client()
        var lines = (0..<700).map { "add \(names[$0 % names.count])" }
        lines[613] = "add \(names[0]).absent"
        let added = try list(lines, client)
        #expect(added.answers.count == 613)
        #expect(added.end.hasPrefix("ACK [50@613] {add} "), "\(added.end)")
        #expect(try client.value("playlistlength", of: "status") == "613")
        let removed = try list([String](repeating: "delete 0:2", count: 400), client)
        // One range finds a single song, and those after it find none.
        #expect(removed.end == "OK")
        #expect(try client.value("playlistlength", of: "status") == "0")
        // As in MPD, the place after the last song is no fault.
        #expect(try list([String](repeating: "delete 0", count: 3), client).end == "OK")
        #expect(try client.ask("add \(names[0])") == ["OK"])
        let ranges = try list(["delete 0", "delete 5", "clear"], client)
        #expect(ranges.end == "ACK [2@1] {delete} Bad song index" && ranges.answers.count == 1)
        let wrong = try list(["add \(names[0])", "add \(names[1]) 9"], client)
        #expect(wrong.end.hasPrefix("ACK [2@1] {add} "), "\(wrong.end)")
        #expect(try list(["add \(names[2]) 9", "add \(names[1]) 10"], client).end.hasPrefix("ACK [2@0] {add} "))
    }

    @Test("a folder between songs comes in its place, and is no song for addid") func folders() async throws {
        let (house, names) = await house(library: true)
        let client = try house.client()
        let added = try list(["add \(names[0])", "addid \(names[1])", "add more", "add \(names[2])"], client)
        #expect(added.end == "OK" && added.answers.map(\.count) == [0, 1, 0, 0])
        #expect(try files(client) == ["0.wav", "1.wav", "9.wav", "10.wav", "11.wav", "2.wav"])
        let refused = try list(["addid \(names[0])", "addid \(names[1])", "addid more", "addid \(names[2])"], client)
        #expect(refused.end == "ACK [50@2] {addid} No such song")
        #expect(try client.value("playlistlength", of: "status") == "8")
    }

    @Test("indices count after the removals before them") func indices() {
        func requests(_ words: [String]) -> [MPDRequest] { words.map { MPDRequest(.delete, [Argument($0)]) } }
        #expect(JointDesk.indexed(requests(["0", "0", "1:", "0", "5"]), [1, 2, 3, 4]) == [[1], [2], [4], [3]])
        #expect(JointDesk.indexed(requests(["4:4", "-1"]), [1, 2, 3, 4]) == [[], [1, 2, 3, 4]])
        #expect(JointDesk.identified(requests(["3", "1", "3", "2"]), [1, 2, 3]) == [[3], [1]])
    }
}
