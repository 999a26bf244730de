import ControlProtocol
import Glibc

/// States for the scripted daemon.
enum Sample {
    /// Seconds of CLOCK_MONOTONIC now.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// A state with an item of 200 s, the second of five, anchored now.
    static func state(
        cause: String = "snapshot", state: String = "playing", elapsed: Double = 0, rate: Double = 1,
        title: String = "So What", item: Int64 = 12, changes: [String: JSONValue] = [:]
    ) -> JSONValue {
        var result = JSONObject([
            .init("session", "main"), .init("seq", 17), .init("instance", "f3a9"), .init("cause", .string(cause)),
            .init("reason", .null), .init("state", .string(state)), .init("stall", .null),
            .init(
                "anchor",
                [
                    "elapsed": .number(elapsed), "rate": .number(rate), "defaultRate": 1, "skew": 0,
                    "monotonic": .number(now), "wall": 1_795_168_800, "wallSynced": true,
                ]),
            .init(
                "item",
                [
                    "id": .integer(item), "play": 1, "uri": "/m/12", "title": .string(title), "artist": "Miles Davis",
                    "albumTitle": "Kind of Blue", "releaseDate": "1959-08-17", "duration": 200,
                    "format": ["codec": "FLAC", "sampleRate": 44100, "channels": 2, "bitsPerSample": 16],
                ]),
            .init("upcoming", ["itemId": 13, "title": "Freddie Freeloader"]),
            .init("queue", ["index": 1, "count": 5, "version": 7]), .init("volume", 0.8), .init("muted", false),
            .init("output", ["name": "speaker", "description": "Speaker"]), .init("error", .null),
        ])
        for (name, value) in changes { result[name] = value }
        return .object(result)
    }

    /// The end of the queue.
    static func ended(_ changes: [String: JSONValue] = [:]) -> JSONValue {
        let changes = changes.merging([
            "item": .null, "upcoming": .null, "queue": ["index": .null, "count": 5, "version": 7], "reason": "ended",
        ]) { a, _ in a }
        return state(cause: "stop", state: "stopped", rate: 0, changes: changes)
    }
}
