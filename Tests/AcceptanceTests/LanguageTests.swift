import ControlProtocol
import TestSupport
import Testing

extension Acceptance {
    /// Texts in several languages, published to each client in its own.
    @Suite(.timeLimit(.minutes(5))) struct LanguageTests {
        private func title(_ value: JSONValue?) -> String? { value?["item"]?["title"]?.stringValue }

        @Test("each client gets texts in its languages, also for the next item, and after a restart")
        func languages() async throws {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(nil, output: "null", in: folder)
            let plain = daemon.connect()
            let german = daemon.connect()
            let french = daemon.connect()
            plain.call("nowPlaying.subscribe")
            german.call("nowPlaying.subscribe", ["languages": ["de-AT", "en"]])
            french.call("nowPlaying.subscribe", ["languages": ["fr"], "causes": ["play", "metadata"]])
            let files = daemon.silences(60, 60).arrayValue ?? []
            func texts(_ title: String) -> JSONValue {
                [
                    ["key": "title", "language": "de", "value": .string(title + " auf Deutsch")],
                    ["key": "title", "language": "und", "value": .string(title)],
                    ["key": "artist", "language": "de", "value": "Orchester"],
                ]
            }
            plain.call(
                "queue.add",
                [
                    "items": [
                        ["uri": files[0], "artist": "Orchestra", "texts": texts("One")],
                        ["uri": files[1], "texts": texts("Two")],
                    ], "play": true,
                ])
            let events = [plain, german, french].map { $0.event("play") }
            #expect(events.map { title($0) } == ["One", "One auf Deutsch", "One"])
            #expect(events.map { $0["item"]?["artist"]?.stringValue } == ["Orchestra", "Orchester", "Orchestra"])
            #expect(events.map { $0["upcoming"]?["title"]?.stringValue } == ["Two", "Two auf Deutsch", "Two"])
            #expect(Set(events.map(\.sequence)).count == 1)
            #expect(title(plain.call("nowPlaying.get")) == "One")
            #expect(title(plain.call("nowPlaying.get", ["languages": ["de"]])) == "One auf Deutsch")
            #expect(plain.refusal("nowPlaying.get", ["languages": "de"]) == "-32602")
            let id = events[0]["item"]?["id"] ?? .null
            #expect(plain.call("queue.get", ["id": id])?["texts"]?.arrayValue?.count == 3)
            #expect(
                plain.refusal("item.update", ["id": id, "texts": [["key": "colour", "language": "de", "value": "x"]]])
                    == "-32602")
            plain.call("item.update", ["id": id, "texts": [["key": "title", "language": "fr", "value": "Un"]]])
            #expect([plain, german, french].map { title($0.event("metadata")) } == ["Un", "Un", "Un"])
            daemon.stop()
            let second = await RealDaemon.start(nil, output: "null", in: folder)
            let reader = second.connect()
            #expect(title(reader.call("nowPlaying.get", ["languages": ["fr"]])) == "Un")
            reader.call("nextTrack")
            #expect(title(reader.call("nowPlaying.get", ["languages": ["de"]])) == "Two auf Deutsch")
        }
    }
}
