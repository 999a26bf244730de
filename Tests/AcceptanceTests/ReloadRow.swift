import ControlProtocol
import Glibc
import TestSupport
import Testing

/// A setting that may change while the daemon runs: two values, and a look at its effect.
struct ReloadRow: Sendable, CustomTestStringConvertible {
    /// The way in which the daemon is asked to read its configuration.
    enum Way: CaseIterable, Sendable { case method, signal }

    /// A look at the effect of the setting.
    enum Effect: Sendable {
        /// In each session that takes part: those that are there before the change, and `late`.
        case inSessions([String], @Sendable (ReloadHouse, _ session: String) -> String)
        /// Of the daemon as a whole.
        case ofDaemon(@Sendable (ReloadHouse) async -> String)
    }

    /// Section and name.
    let name: String
    /// The value before; nil: the setting is not written.
    let before: String?
    let after: String
    /// Looks before and after.
    let looks: (old: String, new: String)
    /// Other lines of the configuration.
    var others = ""
    /// True if a service manager keeps the socket.
    var isHandedOver = false
    let effect: Effect

    var testDescription: String { name }
}

extension ReloadRow {
    static let all: [ReloadRow] = daemon + media + outputs + kinds + playback + announcements + sessions

    private static let both = ["main", "early", "late"]

    private static let daemon = [
        ReloadRow(
            name: "daemon.log-level", before: "info", after: "debug", looks: ("0", "1"),
            effect: .ofDaemon { house in
                let before = house.lines("connected: pid").count
                _ = house.daemon.connect().call("hello")
                return house.lines("connected: pid").count > before ? "1" : "0"
            }),
        ReloadRow(
            name: "access.media-roots", before: "/nowhere", after: "$FOLDER/talk", looks: ("403 ", ""),
            effect: .inSessions(both) { house, session in
                let guest = house.daemon.connect()
                guest.call("hello", ["role": "control"])
                let file = house.folder.silence("talk/root.wav", seconds: 1)
                let refusal = guest.refusal(
                    "queue.add", ["session": .string(session), "items": [.string(file)]])
                return refusal.hasPrefix("403") ? "403 " : refusal
            }),
    ]

    // MARK: Outputs

    private static let outputs = [
        ReloadRow(
            name: "access.output-role", before: "admin", after: "control", looks: ("403 ", "120 "),
            effect: .ofDaemon { house in
                let guest = house.daemon.connect()
                guest.call("hello", ["role": "control"])
                return guest.refusal("output.select", ["name": "nothing"]).prefix(3) + " "
            }),
        ReloadRow(
            name: "outputs.delays", before: "null 0.25", after: "null 0.5", looks: ("0.25", "0.5"),
            effect: .inSessions(both) { house, session in
                let file = JSONValue.string(house.folder.silence("o.wav", seconds: 9))
                house.owner.call("play", ["session": .string(session), "uri": file])
                house.awaitSound(of: session)
                return house.state(session)["output"]?["delay"]?.doubleValue.map { "\($0)" } ?? ""
            }),
    ]

    // MARK: Kinds

    private static let kinds: [ReloadRow] =
        [("podcast", "33"), ("audiobook", "44")].flatMap { kind, interval in
            let others = "[kinds]\n\(kind)-forward-intervals = \(interval)\n"
            func row(
                _ name: String, _ before: String, _ after: String, _ fields: JSONObject = JSONObject(),
                folder: String = ""
            ) -> ReloadRow {
                ReloadRow(
                    name: "kinds.\(kind)-\(name)", before: before, after: after, looks: ("15", interval),
                    others: others,
                    effect: .inSessions(both) { house, session in
                        house.show(session, fields, folder: folder)
                        return house.intervals("skipForward", session)
                    })
            }
            return [
                row("genres", "aaa", "zzz", JSONObject([.init("genre", "zzz")])),
                row("folders", "/nowhere", "$FOLDER/talk", folder: "talk/"), row("from", "5000", "50"),
            ]
        }
        + ["music", "podcast", "audiobook"].flatMap { kind in
            [("forward", "skipForward"), ("backward", "skipBackward")].map { direction, command in
                ReloadRow(
                    name: "kinds.\(kind)-\(direction)-intervals", before: "11", after: "12, 13",
                    looks: ("11", "12,13"),
                    effect: .inSessions(both) { house, session in
                        house.show(session, JSONObject([.init("mediaType", .string(kind))]))
                        return house.intervals(command, session)
                    })
            }
        }

    // MARK: Playback

    private static let playback: [ReloadRow] = [
        ReloadRow(
            name: "playback.forward-intervals", before: "7", after: "8", looks: ("7", "8"),
            effect: .inSessions(both) { $0.intervals("skipForward", $1) }),
        ReloadRow(
            name: "playback.backward-intervals", before: "7", after: "8", looks: ("7", "8"),
            effect: .inSessions(both) { $0.intervals("skipBackward", $1) }),
        ReloadRow(
            name: "playback.loudness", before: "off", after: "track", looks: ("off", "track"),
            effect: .inSessions(both) { $0.state($1)["loudness"]?["mode"]?.stringValue ?? "" }),
        ReloadRow(
            name: "playback.loudness-preamp", before: "-3", after: "-6", looks: ("-3.0", "-6.0"),
            effect: .inSessions(both) { "\($0.state($1)["loudness"]?["preamp"]?.doubleValue ?? .nan)" }),
        loudnessSource,
        ReloadRow(
            name: "playback.skip-by", before: "intervals", after: "chapters", looks: ("15.0", "20.0"),
            effect: .inSessions(both) { house, session in
                let chapters: JSONValue = [["start": 0], ["start": 20], ["start": 40]]
                house.show(session, JSONObject([.init("chapters", chapters)]))
                house.owner.call("changePlaybackPosition", ["session": .string(session), "position": 0])
                return "\(house.owner.call("skipForward", ["session": .string(session)])?.elapsed ?? .nan)"
            }),
        ReloadRow(
            name: "playback.seek-over-ads", before: "land", after: "pass", looks: ("10.0", "30.0"),
            effect: .inSessions(both) { house, session in
                let ads: JSONValue = [["start": 10, "duration": 5]]
                house.show(session, JSONObject([.init("adTimeRanges", ads)]))
                let answer = house.owner.call(
                    "changePlaybackPosition", ["session": .string(session), "position": 30])
                return "\(answer?.elapsed ?? .nan)"
            }),
        ReloadRow(
            name: "playback.resume-from", before: "5000", after: "30", looks: ("0", "30"),
            effect: .inSessions(both) { house, session in
                // Items are known by their contents: each session has a file of another length.
                let file = house.folder.silence("\(session).wav", seconds: 60 + Double(session.utf8.count))
                let parameters: JSONValue = ["session": .string(session), "uri": .string(file)]
                func begin() -> Double {
                    house.owner.call("play", parameters)
                    house.awaitSound(of: session)
                    let elapsed = house.state(session).elapsed
                    house.owner.call("pause", ["session": .string(session)])
                    return elapsed
                }
                _ = begin()
                house.owner.call("changePlaybackPosition", ["session": .string(session), "position": 30])
                // Another item is played in between.
                house.show(session)
                return begin() < 1 ? "0" : "30"
            }),
        ReloadRow(
            name: "playback.resume", before: "stopped", after: "paused", looks: ("stopped", "paused"),
            effect: .ofDaemon { house in
                house.show("main")
                house.daemon.process.signal(SIGKILL)
                house.daemon.process.wait()
                let next = await RealDaemon.start(
                    nil, output: "null", in: house.folder, ["--config", house.folder.path("conf")])
                defer { next.stop() }
                return next.connect().call("nowPlaying.get")?.playing ?? ""
            }),
    ]
}
