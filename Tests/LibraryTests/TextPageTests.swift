import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Pages of tracks as text, which come as open files.
@Suite struct TextPageTests {
    init() { LoopThread.start() }

    private static let lines: JSONValue = [["key": "file", "field": "pathBelow"], ["key": "Title", "field": "title"]]

    /// The result of a request, and the open files that came with its line.
    private func ask(
        _ client: RawClient, _ parameters: JSONValue, _ method: String = "library.query"
    ) throws -> (answer: JSONValue, files: [OwnedDescriptor]) {
        try client.request(1, method, parameters)
        var line: [UInt8] = []
        var files: [OwnedDescriptor] = []
        while line.last != UInt8(ascii: "\n") {
            var poll = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
            try #require(Glibc.poll(&poll, 1, 30_000) == 1)
            withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
                let received = UnixSocket.receive(client.descriptor, into: buffer)
                files += received.descriptors.map { OwnedDescriptor($0) }
                line += buffer.prefix(max(0, received.count))
            }
        }
        return (try JSONReader.read(line), files)
    }

    @Test func pagesHaveAllTracksInSealedFiles() async throws {
        let house = try await LibraryHouse(tracks: 3000)
        var names: [String] = []
        var after: JSONValue?
        var pages = 0
        repeat {
            var parameters = JSONObject([.init("sort", "uri"), .init("lines", Self.lines), .init("limit", 10_000)])
            parameters["after"] = after
            let (answer, files) = try ask(house.client, .object(parameters))
            let result = try #require(answer["result"])
            let size = Int(try #require(result["bytes"]?.integerValue))
            #expect(result["descriptor"] == 0 && files.count == 1 && result["rows"] == nil)
            #expect(size < 200 << 10 && (size >= 192 << 10 || result["next"] == nil))
            var text = [UInt8](repeating: 0, count: size)
            #expect(pread(files[0].number, &text, size, 0) == size)
            #expect(pwrite(files[0].number, "x", 1, 0) < 0 && ftruncate(files[0].number, 0) < 0)
            let rows = String(decoding: text, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("file: ") }
            #expect(Int64(rows.count) == result["count"]?.integerValue)
            names += rows.map { "Music/\($0.dropFirst(6))" }
            after = result["next"]
            pages += 1
        } while after != nil
        #expect(pages > 1 && names.sorted() == house.tracks.map(\.shownPath).sorted())
    }

    @Test func formsThatCannotBeAreRefused() async throws {
        let house = try await LibraryHouse(tracks: 10)
        let wrong: [JSONValue] = [
            ["lines": []], ["lines": [["key": "k"]]], ["lines": [["key": "k", "field": "tags"]]],
            ["lines": [["key": "", "field": "title"]]], ["lines": [["key": "a\nfile", "field": "title"]]],
            ["lines": Self.lines, "fields": ["title"]],
        ]
        for parameters in wrong {
            let (answer, files) = try ask(house.client, parameters)
            #expect(answer["error"]?["code"] == -32602 && files.isEmpty, "\(parameters)")
        }
        // No track is a text of no bytes.
        let none: JSONValue = ["lines": Self.lines, "filter": ["title": ["is": "none such"]]]
        let (answer, files) = try ask(house.client, none)
        #expect(answer["result"]?["count"] == 0 && answer["result"]?["bytes"] == 0 && files.count == 1)
    }

    @Test func filesHaveTheirLinesUpToTheirEnds() async throws {
        let house = try await LibraryHouse(tracks: 1500)
        let known = house.tracks.map(\.shownPath).filter { !$0.unicodeScalars.contains("\u{FFFD}") }
        let places = known.enumerated().flatMap { index, place in
            index % 7 == 3 ? ["Music/none/\(index)", place] : [place]
        }
        // So many lines that a page is full before all files of a request are read.
        let lines: [JSONValue] = (0..<12).map { ["key": .string("file \($0)"), "field": "path"] }
        var left = places[...]
        var pages = 0
        while !left.isEmpty {
            let uris = left.prefix(1000).map { JSONValue.string(house.music + $0.dropFirst(5)) }
            let (answer, files) = try ask(house.client, ["uris": .array(uris), "lines": .array(lines)], "library.get")
            let result = try #require(answer["result"], "\(answer)")
            let ends = try #require(result["ends"]?.arrayValue).map { Int($0.integerValue ?? -1) }
            let size = Int(try #require(result["bytes"]?.integerValue))
            #expect(files.count == 1 && result["rows"] == nil && result["next"] == nil)
            #expect(ends.last == size && ends.count <= uris.count && size < 200 << 10)
            #expect(ends.count == uris.count || size >= 192 << 10)
            var text = [UInt8](repeating: 0, count: size)
            #expect(pread(files[0].number, &text, size, 0) == size)
            for (place, (begin, end)) in zip(left, zip([0] + ends, ends)) {
                let found = String(decoding: text[begin..<end], as: UTF8.self)
                let isKnown = !place.hasPrefix("Music/none/")
                #expect(found == (isKnown ? (0..<12).map { "file \($0): \(place)\n" }.joined() : ""))
            }
            #expect(result["count"] == .integer(Int64(left.prefix(ends.count).count { !$0.hasPrefix("Music/none/") })))
            left = left.dropFirst(ends.count)
            pages += 1
        }
        #expect(pages > 2)
        let wrong: JSONValue = ["uris": ["/a"], "lines": .array(lines), "fields": ["title"]]
        #expect(try ask(house.client, wrong, "library.get").answer["error"]?["code"] == -32602)
    }
}
