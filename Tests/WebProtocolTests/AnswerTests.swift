import ControlProtocol
import Testing

@testable import WebProtocol

/// Parts of files, tags, events, and the methods that the network has.
@Suite struct AnswerTests {
    private func head(_ headers: [(name: String, value: String)], method: String = "GET") throws -> RequestHead {
        try RequestHead(
            method: method, target: "/", version: "HTTP/1.1", headers: [("Host", "localhost")] + headers)
    }

    @Test(
        "ranges of a file of 100 bytes",
        arguments: [
            ("bytes=0-1", .part(0..<2)), ("bytes=0-", .part(0..<100)), ("bytes=99-", .part(99..<100)),
            ("bytes=50-1000", .part(50..<100)), ("bytes=-1", .part(99..<100)), ("bytes=-1000", .part(0..<100)),
            ("Bytes=1-1", .part(1..<2)), ("bytes=100-", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            ("bytes=5-4", .whole), ("bytes=0-1,5-6", .whole), ("bytes=a-b", .whole), ("bytes=", .whole),
            ("bytes=-", .whole), ("items=0-1", .whole), ("bytes=0-99999999999999999999", .whole),
        ] as [(String, ByteRange)])
    func ranges(text: String, expected: ByteRange) throws {
        #expect(try ByteRange(head([("Range", text)]), size: 100, tag: "\"a\"") == expected)
        #expect(try ByteRange(head([("Range", text)], method: "HEAD"), size: 100, tag: "\"a\"") == .whole)
        let other = try head([("Range", text), ("If-Range", "\"b\"")])
        #expect(ByteRange(other, size: 100, tag: "\"a\"") == .whole)
        let same = try head([("Range", text), ("If-Range", "\"a\"")])
        #expect(ByteRange(same, size: 100, tag: "\"a\"") == expected)
    }

    @Test func emptyFiles() throws {
        #expect(try ByteRange(head([("Range", "bytes=0-")]), size: 0, tag: "") == .unsatisfiable)
        #expect(try ByteRange(head([]), size: 0, tag: "") == .whole)
    }

    @Test func tags() throws {
        for text in ["\"a\"", "W/\"a\"", "\"x\", \"a\"", "*"] {
            #expect(try EntityTag.isKnown("\"a\"", to: head([("If-None-Match", text)])), "\(text)")
        }
        for text in ["\"b\"", "a", ""] {
            #expect(try !EntityTag.isKnown("\"a\"", to: head([("If-None-Match", text)])), "\(text)")
        }
    }

    @Test func events() {
        let text = EventText.event(id: "a:1\nid: 2", data: Array("{}".utf8))
        #expect(String(decoding: text, as: UTF8.self) == "id: a:1id: 2\ndata: {}\n\n")
    }

    @Test("each method of both servers has one server, or stays on its socket") func methods() throws {
        for method in Catalogue.methods + LibraryCatalogue.table.methods {
            let isLibrary = LibraryCatalogue.table.method(method.name) != nil
            let server = try? NetworkMethods.server(of: method.name, for: .control)
            switch method.name {
            case "hello", "rpc.discover": #expect(server == .bridge)
            case "nowPlaying.map", "nowPlaying.publish", "daemon.reload", "daemon.quit", "figures.get":
                #expect(server == nil)
            case _: #expect(server == (isLibrary ? .library : .daemon), "\(method.name)")
            }
        }
        #expect(throws: RPCError.self) { try NetworkMethods.server(of: "nowPlaying.map", for: .control) }
        #expect(throws: RPCError.self) { try NetworkMethods.server(of: "x", for: .control) }
    }

    @Test func descriptors() throws {
        for text in [
            #"{"descriptor": 0}"#, #"{"items": ["a", {"descriptor": 0}]}"#, #"{"list": {"descriptor": 1}}"#,
            #"{"actsFor": {}}"#, #"{"external": true}"#,
        ] {
            let parameters = try #require(JSONReader.read(text).objectValue)
            #expect(throws: RPCError.self, "\(text)") { try NetworkMethods.check("x", parameters) }
        }
        try NetworkMethods.check("x", try #require(JSONReader.read(#"{"items": ["descriptor"]}"#).objectValue))
    }

    @Test func readersTestNoNames() throws {
        for text in [
            #"{"filter": {"uri": {"contains": "a"}}}"#,
            #"{"filter": {"not": {"any": [{"folder": {"startsWith": "M"}}]}}}"#,
            #"{"sort": "uri"}"#, #"{"sort": ["title", "-uri"]}"#,
        ] {
            let parameters = try #require(JSONReader.read(text).objectValue)
            #expect(throws: RPCError.self, "\(text)") { try PublicText.check(parameters) }
        }
        let others = #"{"filter": {"all": [{"title": {"is": "uri"}}, {"albumId": {"is": 1}}]}, "sort": "-date"}"#
        try PublicText.check(try #require(JSONReader.read(others).objectValue))
    }

    @Test func readersSeeNoNames() throws {
        let text = #"{"by":{"pid":1},"item":{"uri":"file:///a","title":"A","path":"/a"},"rows":[{"uri":"x","id":1}]}"#
        let shown = PublicText.of(try JSONReader.read(text))
        #expect(try shown == JSONReader.read(#"{"item":{"title":"A"},"rows":[{"id":1}]}"#))
    }
}
