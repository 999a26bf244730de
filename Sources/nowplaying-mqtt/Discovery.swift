import ControlProtocol
import NowPlaying

/// Home Assistant's MQTT discovery: it makes sensors, buttons, numbers and selects from our topics. Specification:
/// home-assistant.io/integrations/mqtt, discovery.
struct Discovery {
    /// The prefix that Home Assistant subscribes to.
    var prefix: String
    /// Name of the box in identifiers, and for people.
    var node: String
    var name: String
    /// Prefix of our topics.
    var base: String
    /// Methods of the daemon that clients may call; empty: the bridge accepts no commands.
    var methods: Set<String>
    /// True if pictures are published.
    var hasArtwork = false

    /// Topics and their retained payloads.
    var entities: [(topic: String, payload: [UInt8])] {
        var result = [binary("playing", "Playing", "mdi:music"), binary("muted", "Muted", "mdi:volume-off")]
        for (object, label, icon) in Discovery.sensors { result.append(sensor(object, label, icon)) }
        for (object, label, icon, word, method) in Discovery.buttons where methods.contains(method) {
            result.append(
                entity(
                    "button", object, label,
                    [
                        .init("command_topic", topic("command")), .init("payload_press", .string(word)),
                        .init("icon", .string(icon)),
                    ]))
        }
        if hasArtwork {
            result.append(entity("image", "artwork", "Artwork", [.init("image_topic", topic("artwork"))]))
        }
        if methods.contains("volume.set") {
            result.append(
                number(
                    "volume", "Volume", 0, 1, 0.01, "mdi:volume-high",
                    #"{"method":"volume.set","params":{"volume":{{ value }}}}"#))
        }
        if methods.contains("changePlaybackPosition") {
            result.append(
                number(
                    "position", "Position", 0, 86400, 1, "mdi:progress-clock",
                    #"{"method":"changePlaybackPosition","params":{"position":{{ value }}}}"#, unit: "s"))
        }
        if methods.contains("rating") {
            result.append(
                number(
                    "rating", "Rating", 0, 5, 1, "mdi:star", #"{"method":"rating","params":{"rating":{{ value }}}}"#))
        }
        for (object, label, method, options) in Discovery.selects where methods.contains(method) {
            result.append(
                entity(
                    "select", object, label,
                    [
                        .init("state_topic", topic(object)), .init("command_topic", topic("command")),
                        .init("options", .array(options.map { .string($0) })),
                        .init(
                            "command_template",
                            .string("{\"method\":\"\(method)\",\"params\":{\"mode\":\"{{ value }}\"}}")),
                    ]))
        }
        return result
    }

    private static let sensors = [
        ("status", "Status", "mdi:play-pause"), ("title", "Title", "mdi:music-note"),
        ("artist", "Artist", "mdi:account-music"), ("album", "Album", "mdi:album"),
        ("duration", "Duration", "mdi:timer-outline"), ("output", "Output", "mdi:speaker"),
        ("error", "Error", "mdi:alert-circle-outline"), ("session", "Session", "mdi:swap-horizontal"),
        ("chapter", "Chapter", "mdi:bookmark-outline"),
    ]

    private static let buttons = [
        ("play", "Play", "mdi:play", "play", "play"), ("pause", "Pause", "mdi:pause", "pause", "pause"),
        ("play_pause", "Play or pause", "mdi:play-pause", "playpause", "togglePlayPause"),
        ("stop", "Stop", "mdi:stop", "stop", "stop"), ("next", "Next", "mdi:skip-next", "next", "nextTrack"),
        ("previous", "Previous", "mdi:skip-previous", "previous", "previousTrack"),
        ("mute", "Mute", "mdi:volume-off", "mutetoggle", "volume.set"),
        ("like", "Like", "mdi:thumb-up", "like", "like"),
        ("dislike", "Dislike", "mdi:thumb-down", "dislike", "dislike"),
        ("bookmark", "Bookmark", "mdi:bookmark", "bookmark", "bookmark"),
    ]

    private static let selects = RemoteCommand.allCases.compactMap { command in
        command.mode.map {
            ($0.word, $0.word.prefix(1).uppercased() + $0.word.dropFirst(), command.rawValue, $0.choices)
        }
    }

    private func topic(_ name: String) -> JSONValue { .string(base + "/" + name) }

    private func binary(_ object: String, _ label: String, _ icon: String) -> (topic: String, payload: [UInt8]) {
        entity(
            "binary_sensor", object, label,
            [
                .init("state_topic", topic(object)), .init("payload_on", "1"), .init("payload_off", "0"),
                .init("icon", .string(icon)),
            ])
    }

    private func sensor(_ object: String, _ label: String, _ icon: String) -> (topic: String, payload: [UInt8]) {
        var members: [JSONObject.Member] = [.init("state_topic", topic(object)), .init("icon", .string(icon))]
        // Home Assistant takes states of at most 255 characters.
        members.append(.init("value_template", "{{ value[:255] }}"))
        if object == "duration" {
            members.append(.init("unit_of_measurement", "s"))
            members.append(.init("value_template", "{{ value | float(0) }}"))
        }
        if object == "status" { members.append(.init("json_attributes_topic", topic("state"))) }
        return entity("sensor", object, label, members)
    }

    private func number(
        _ object: String, _ label: String, _ low: JSONValue, _ high: JSONValue, _ step: JSONValue, _ icon: String,
        _ template: String, unit: String? = nil
    ) -> (topic: String, payload: [UInt8]) {
        var members: [JSONObject.Member] = [
            .init("state_topic", topic(object)), .init("command_topic", topic("command")),
            .init("command_template", .string(template)), .init("min", low), .init("max", high), .init("step", step),
            .init("icon", .string(icon)), .init("value_template", "{{ value | float(0) }}"),
        ]
        if let unit { members.append(.init("unit_of_measurement", .string(unit))) }
        return entity("number", object, label, members)
    }

    private func entity(
        _ component: String, _ object: String, _ label: String, _ members: [JSONObject.Member]
    ) -> (topic: String, payload: [UInt8]) {
        let id = "nowplaying_\(node)_\(object)"
        var all: [JSONObject.Member] = [
            .init("name", .string(label)), .init("unique_id", .string(id)), .init("object_id", .string(id)),
            .init("default_entity_id", .string("\(component).\(id)")),
        ]
        all += members
        all += [
            .init("availability_topic", topic("availability")),
            .init(
                "device",
                [
                    "identifiers": [.string("nowplaying_" + node)], "name": .string(name),
                    "manufacturer": "nowplayingd", "model": "nowplayingd", "sw_version": .string(Product.version),
                ]),
        ]
        let text = JSONWriter.text(.object(JSONObject(all)))
        return ("\(prefix)/\(component)/nowplaying_\(node)/\(object)/config", Array(text.utf8))
    }
}
