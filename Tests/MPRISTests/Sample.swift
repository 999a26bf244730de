import ControlProtocol
import NowPlaying
import NowPlayingClient

/// States as the daemon publishes them.
enum Sample {
    /// A state with an item of 200 s, anchored at `at` seconds of CLOCK_MONOTONIC. `item`: fields besides those of any.
    static func state(
        _ cause: String = "snapshot", _ state: String = "playing", elapsed: Double = 0, rate: Double = 1,
        at time: Double = 0, id: Int64? = 12, item fields: JSONValue = [:], changes: JSONValue = [:]
    ) -> StateView {
        var item = JSONObject([.init("id", .integer(id ?? 0)), .init("uri", "/m/12.flac"), .init("duration", 200)])
        for member in fields.objectValue?.members ?? [] { item[member.name] = member.value }
        var result = JSONObject([
            .init("instance", "f3a9"), .init("cause", .string(cause)), .init("state", .string(state)),
            .init("item", id == nil ? .null : .object(item)), .init("volume", 0.8), .init("muted", false),
            .init("repeatMode", "off"), .init("shuffleMode", "off"),
            .init(
                "anchor",
                [
                    "elapsed": .number(elapsed), "rate": .number(rate), "defaultRate": 1, "skew": 0,
                    "monotonic": .number(time),
                ]),
        ])
        for member in changes.objectValue?.members ?? [] { result[member.name] = member.value }
        return StateView(.object(result))
    }

    /// An instant of CLOCK_MONOTONIC.
    static func second(_ time: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(time * 1e9)) }
}
