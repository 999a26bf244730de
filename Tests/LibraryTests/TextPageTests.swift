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
        _ client: RawClient, _ parameters: JSONValue
    ) throws -> (answer: JSONValue, files: [OwnedDescriptor]) {
        try client.request(1, "library.query", parameters)
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
}
