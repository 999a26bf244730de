import ControlProtocol
import Testing

@Suite struct CatalogueTests {
    private static func refusal(_ method: String, _ parameters: String) throws -> RPCError? {
        let method = try #require(Catalogue.method(method))
        let object = try #require(try JSONReader.read(parameters).objectValue)
        do throws(RPCError) {
            try method.check(object)
            return nil
        } catch {
            return error
        }
    }

    @Test func everyNameIsInTheTableOnce() {
        #expect(Set(Catalogue.methods.map(\.name)) == Set(MethodName.allCases.map(\.rawValue)))
        #expect(Catalogue.methods.count == MethodName.allCases.count)
        for method in Catalogue.methods {
            #expect(Set(method.parameters.map(\.name)).count == method.parameters.count)
            let names = Set(method.parameters.map(\.name))
            #expect(method.exclusive.allSatisfy { names.isSuperset(of: $0) })
            #expect(names.isSuperset(of: method.anyOf))
            #expect(names.isSuperset(of: method.oneOf))
        }
    }

    @Test(arguments: Catalogue.methods.map(\.name))
    func theExampleIsTaken(_ name: String) throws {
        #expect(try Self.refusal(name, #require(Catalogue.method(name)).example) == nil)
    }

    @Test(arguments: [
        ("play", #"{"uri":"/a","position":1.5,"session":"main","notAfter":1795168800.5}"#),
        ("play", #"{"uri":"shown","descriptor":0}"#), ("play", #"{"itemId":3}"#), ("play", #"{"index":0.0}"#),
        ("queue.add", #"{"items":["/a",{"uri":"/b","title":"t","artists":["x","y"],"trackNumber":3}]}"#),
        ("queue.add", #"{"items":[{"descriptor":15}],"at":0,"play":true,"ifVersion":4}"#),
        (
            "queue.add",
            #"{"items":[{"uri":"/a","mediaType":"podcast","chapters":[{"start":0,"title":"x"},{"start":2.5}]}]}"#
        ),
        (
            "queue.add",
            #"{"items":[{"uri":"/a","adTimeRanges":[{"start":30,"duration":5},{"start":0,"duration":30}]}]}"#
        ),
        ("item.update", #"{"id":4,"chapters":[],"adTimeRanges":[],"mediaType":"audio"}"#),
        ("volume.set", #"{"volume":1}"#), ("volume.set", #"{"step":-7,"over":2}"#),
        ("queue.list", #"{"limit":10000,"fields":["id","format"]}"#), ("play", #"{"uri":"/a","duration":3}"#),
        ("changePlaybackPosition", #"{"position":10000000}"#), ("nowPlaying.subscribe", #"{"causes":["ad-began"]}"#),
    ])
    func takes(_ method: String, _ parameters: String) throws {
        #expect(try Self.refusal(method, parameters) == nil)
    }

    @Test(
        arguments: [
            ("skipForward", #"{"intervall":5}"#, "intervall", "interval"),
            ("skipForward", #"{"interval":0}"#, "interval", nil),
            ("skipForward", #"{"interval":-1}"#, "interval", nil),
            ("skipForward", #"{"interval":"5"}"#, "interval", nil),
            ("skipForward", #"{"interval":null}"#, "interval", nil),
            ("pause", #"{"Session":"main"}"#, "Session", "session"),
            ("changePlaybackPosition", "{}", "position", nil), ("nowPlaying.unsubscribe", #"{"x":1}"#, "x", nil),
            ("play", #"{"uri":""}"#, "uri", nil), ("play", #"{"index":1.5}"#, "index", nil),
            ("play", #"{"index":-1}"#, "index", nil), ("play", #"{"uri":"/a","index":1}"#, "index", nil),
            ("play", #"{"descriptor":16}"#, "descriptor", nil), ("queue.add", #"{"items":[]}"#, "items", nil),
            ("queue.add", #"{"items":"/a"}"#, "items", nil), ("queue.add", #"{"items":["/a",5]}"#, "items[1]", nil),
            ("queue.add", #"{"items":[{"uri":"/a","titel":"x"}]}"#, "items[0].titel", "title"),
            ("queue.add", #"{"items":[{"title":"x"}]}"#, "items[0].uri", nil),
            ("queue.add", #"{"items":[{"uri":"/a","artists":[1]}]}"#, "items[0].artists[0]", nil),
            ("queue.add", #"{"items":[{"uri":"/a","mediaType":"film"}]}"#, "items[0].mediaType", nil),
            ("queue.add", #"{"items":[{"uri":"/a","chapters":{"start":0}}]}"#, "items[0].chapters", nil),
            (
                "queue.add", #"{"items":[{"uri":"/a","chapters":[{"strat":0}]}]}"#, "items[0].chapters[0].strat",
                "start"
            ),
            ("item.update", #"{"id":1,"chapters":[{"title":"x"}]}"#, "chapters[0].start", nil),
            ("item.update", #"{"id":1,"chapters":[{"start":-1}]}"#, "chapters[0].start", nil),
            ("item.update", #"{"id":1,"chapters":[5]}"#, "chapters[0]", nil),
            (
                "item.update", #"{"id":1,"adTimeRanges":[{"start":0,"duration":0}]}"#, "adTimeRanges[0].duration",
                nil
            ),
            (
                "item.update",
                #"{"id":1,"adTimeRanges":[{"start":9,"duration":2},{"start":5,"duration":4.5}]}"#,
                "adTimeRanges[0]", nil
            ),
            ("queue.add", #"{"items":["/a"],"at":1,"next":true}"#, "next", nil), ("volume.set", "{}", "volume", nil),
            ("volume.set", #"{"volume":1.01}"#, "volume", nil),
            ("volume.set", #"{"volume":0.5,"step":0.1}"#, "step", nil),
            ("queue.list", #"{"fields":["durations"]}"#, "fields[0]", "duration"),
            ("queue.list", #"{"fields":[]}"#, "fields", nil), ("play", #"{"itemId":1,"duration":3}"#, "itemId", nil),
            ("queue.list", #"{"limit":10001}"#, "limit", nil), ("queue.list", #"{"offset":-1}"#, "offset", nil),
            ("commands.configure", #"{"command":"fly","enabled":true}"#, "command", nil),
            ("commands.configure", #"{"command":"play"}"#, "enabled", nil),
            (
                "commands.configure", #"{"command":"skipForward","preferredIntervals":[15,0]}"#,
                "preferredIntervals[1]", nil
            ),
            ("commands.configure", #"{"command":"skipForward","preferredIntervals":[]}"#, "preferredIntervals", nil),
            ("nowPlaying.subscribe", #"{"causes":["tick"]}"#, "causes[0]", nil),
        ] as [(String, String, String, String?)])
    func refuses(_ method: String, _ parameters: String, _ parameter: String, _ nearest: String?) throws {
        let error = try #require(try Self.refusal(method, parameters))
        #expect(error.code == -32602)
        #expect(error.status == "invalidParams")
        #expect(error.data["parameter"] == .string(parameter))
        if let nearest { #expect(error.data["nearest"] == .string(nearest)) }
    }

    @Test func textIsBounded() throws {
        let name = String(repeating: "é", count: 2048)
        #expect(try Self.refusal("hello", "{\"client\":\"\(name)\"}") == nil)
        #expect(try Self.refusal("hello", "{\"client\":\"\(name)x\"}")?.code == -32602)
    }

    @Test func unknownMethodsAreNamed() {
        #expect(Catalogue.table.unknownMethod("nextTrak").data["nearest"] == "nextTrack")
        #expect(Catalogue.table.unknownMethod(String(repeating: "x", count: 200_000)).message.count < 200)
    }

    @Test func nearestNames() {
        #expect(NearestName.of("puase", among: ["play", "pause"]) == "pause")
        #expect(NearestName.of("x", among: [String]()) == nil)
        #expect(NearestName.suggestion(for: "puase", among: ["play", "pause"]) == "pause")
        #expect(NearestName.suggestion(for: "banana", among: ["play", "pause"]) == nil)
    }

    @Test func discoveryIsTheCatalogue() throws {
        let document = Catalogue.table.discovery(version: "1.2.3")
        #expect(document["info"]?["version"] == "1.2.3")
        let names = try #require(document["methods"]?.arrayValue).compactMap { $0["name"]?.stringValue }
        #expect(names == Catalogue.methods.map(\.name))
        let text = JSONWriter.text(document)
        #expect(JSONWriter.text(try JSONReader.read(text)) == text)
    }
}
