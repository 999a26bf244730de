import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Filters and orders by the daemon's feedback, asked of the real library beside the real daemon.
@Suite(.timeLimit(.minutes(5))) struct MirrorQueryTests {
    /// Titles of a query, as soon as they are these; else the last ones after 20 s.
    private func titles(_ client: RawClient, _ query: JSONValue, until wanted: [String]) throws -> [String] {
        var found: [String] = []
        let end = EventLoop.now.advanced(bySeconds: 20)
        repeat {
            let rows = try client.call("library.query", query)["result"]?["rows"]?.arrayValue ?? []
            found = rows.compactMap { $0["title"]?.stringValue }
        } while found != wanted && EventLoop.now < end
        return found
    }

    @Test func feedbackOfTheDaemonIsFoundAndSorted() async throws {
        let house = LibraryHouse()
        let songs = ["A", "B", "C", "D"].map { title in
            LibraryHouse.Song(place: "music/" + title + ".wav", title: title)
        }
        try house.fill(songs)
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        #expect(try client.call("library.status")["result"]?["daemon"] == ["state": "absent"])
        await house.startDaemon()
        let daemon = try RawClient(house.daemonSocket)
        for (title, rating) in [("A", 3), ("B", 5), ("C", 4)] {
            let uri = JSONValue.string(house.uri("music/\(title).wav"))
            _ = try daemon.call(
                "feedback.set", ["uri": uri, "rating": .integer(Int64(rating)), "like": .bool(rating > 4)])
        }
        let rated: JSONValue = ["filter": ["rating": ["atLeast": 4]], "sort": "-rating"]
        #expect(try titles(client, rated, until: ["B", "C"]) == ["B", "C"])
        #expect(try titles(client, ["filter": ["liked": ["is": true]]], until: ["B"]) == ["B"])
        let row = try client.call("library.query", ["filter": ["title": ["is": "B"]], "fields": ["rating", "liked"]])
        #expect(row["result"]?["rows"] == [["rating": 5, "liked": true]])
        #expect(try client.call("library.status")["result"]?["daemon"] == ["state": "connected"])
        // Played to its end, a track has a count and the time of its last play.
        _ = try daemon.call("play", ["uri": .string(house.uri("music/D.wav"))])
        let played: JSONValue = ["filter": ["playCount": ["atLeast": 1]], "sort": "-lastPlayed"]
        #expect(try titles(client, played, until: ["D"]) == ["D"])
        // Its rating goes, and the track is still there.
        let uri = JSONValue.string(house.uri("music/B.wav"))
        _ = try daemon.call("feedback.set", ["uri": uri, "rating": nil])
        #expect(try titles(client, rated, until: ["C"]) == ["C"])
        // A smart list of liked and unplayed tracks goes into the queue.
        let filter: JSONValue = ["all": [["liked": ["is": true]], ["lastPlayed": ["missing": true]]]]
        _ = try client.call("lists.save", ["name": "Forgotten", "filter": filter])
        #expect(try client.call("library.add", ["list": "Forgotten"])["result"]?["count"] == 1)
    }
}
