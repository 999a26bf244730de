import ControlProtocol
import TestSupport
import Testing

extension Acceptance {
    /// Status and effect of each command in each situation, with the real daemon.
    @Suite(.timeLimit(.minutes(5))) struct CommandTableTests {
        private static let situations = ["empty", "ended", "stopped", "playing", "paused", "ad", "live", "disabled"]

        /// One line a command, one column a situation in the order above. `+`: it is enabled and succeeds; `(…)`: it is
        /// disabled for this reason; then the code and reason of its refusal, or `ok` if its effect already holds.
        private static let table = """
            play                   (empty queue)110 + + + + + + (tea)200
            pause                  (empty queue)ok + + + + + + (tea)200
            stop                   (empty queue)ok + + + + + + (tea)200
            togglePlayPause        (empty queue)110 + + + + + + (tea)200
            nextTrack              (empty queue)110 + + + + + + (tea)200
            previousTrack          (empty queue)110 + + + + + + (tea)200
            skipForward            (empty queue)110 (no current item)110 + + + (advertisement)200 (live stream)200 (tea)200
            skipBackward           (empty queue)110 (no current item)110 + + + (advertisement)200 (live stream)200 (tea)200
            seekForward            (empty queue)110 (no current item)110 + + + (advertisement)200 (live stream)200 (tea)200
            seekBackward           (empty queue)110 (no current item)110 + + + (advertisement)200 (live stream)200 (tea)200
            changePlaybackPosition (empty queue)110 (no current item)110 + + + (advertisement)200 (live stream)200 (tea)200
            changePlaybackRate     (empty queue)110 (no current item)110 + + + (advertisement)200 (live stream)200 (tea)200
            changeRepeatMode       + + + + + + + (tea)200
            changeShuffleMode      + + + + + + + (tea)200
            changeConsumeMode      + + + + + + + (tea)200
            changeSingleMode       + + + + + + + (tea)200
            rating                 (empty queue)110 (no current item)110 + + + + + (tea)200
            like                   (empty queue)110 (no current item)110 + + + + + (tea)200
            dislike                (empty queue)110 (no current item)110 + + + + + (tea)200
            bookmark               (empty queue)110 (no current item)110 + + + + (live stream)200 (tea)200
            """

        private static let rows: [(command: String, cells: [String])] = table.split(separator: "\n").map { line in
            var cells = [""]
            var isInside = false
            for character in line {
                if character == "(" { isInside = true }
                if character == ")" { isInside = false }
                if character == " ", !isInside { cells.append("") } else { cells[cells.count - 1].append(character) }
            }
            cells.removeAll { $0.isEmpty }
            return (cells[0], Array(cells.dropFirst()))
        }

        /// Parameters of the commands.
        private static let parameters: [String: JSONValue] = [
            "changePlaybackPosition": ["position": 1], "changePlaybackRate": ["rate": 1.5],
            "changeRepeatMode": ["mode": "all"], "changeShuffleMode": ["mode": "items"], "rating": ["rating": 3],
            "changeConsumeMode": ["mode": "once"], "changeSingleMode": ["mode": "on"],
            "seekForward": ["phase": "begin"], "seekBackward": ["phase": "begin"],
        ]

        private let daemon: RealDaemon
        private let client: Client
        private let file: JSONValue

        init() async {
            daemon = await RealDaemon.silent(readsTitles: false)
            client = daemon.connect()
            file = daemon.silences(60).arrayValue?.first ?? .null
        }

        private func enter(_ situation: String, _ command: String) {
            client.call("queue.clear")
            client.call("changeRepeatMode", ["mode": "off"])
            client.call("changeShuffleMode", ["mode": "off"])
            client.call("changeConsumeMode", ["mode": "off"])
            client.call("changeSingleMode", ["mode": "off"])
            if situation == "empty" { return }
            var item: JSONValue = ["uri": file]
            if situation == "ad" { item = ["uri": file, "adTimeRanges": [["start": 0, "duration": 30]]] }
            if situation == "live" { item = ["uri": file, "isLiveStream": true] }
            client.call("queue.add", ["items": [item], "play": true])
            switch situation {
            case "ended": client.call("nextTrack")
            case "stopped": client.call("stop")
            case "paused": client.call("pause")
            case "disabled":
                client.call(
                    "commands.configure",
                    ["command": .string(command), "whileConnected": true, "enabled": false, "reason": "tea"])
            default: break
            }
        }

        private func cell(_ command: String) -> String {
            let listed = client.call("commands.list")?["commands"]?.arrayValue?.first {
                $0["command"] == .string(command)
            }
            let refusal = client.refusal(command, Self.parameters[command] ?? [:])
            if listed?["enabled"] == true { return refusal.isEmpty ? "+" : "+" + refusal }
            let code = refusal.isEmpty ? "ok" : refusal == "200 disabled" ? "200" : refusal
            return "(\(listed?["reason"]?.stringValue ?? ""))\(code)"
        }

        @Test("each command in each situation: enabled, reason, status") func table() {
            #expect(Self.rows.map(\.command).count == 20)
            for (column, situation) in Self.situations.enumerated() {
                for row in Self.rows {
                    enter(situation, row.command)
                    #expect(cell(row.command) == row.cells[column], "\(row.command), \(situation)")
                    if row.command == "bookmark" { client.call("bookmark", ["active": false]) }
                    if row.command.hasPrefix("seek") { client.call(row.command, ["phase": "end"]) }
                    if situation == "disabled" {
                        client.call(
                            "commands.configure",
                            ["command": .string(row.command), "whileConnected": true, "enabled": true])
                    }
                }
            }
            // A command that is late or means another item does nothing in any case.
            enter("playing", "")
            // Its saved feedback has been found when this is answered.
            client.call("like")
            client.call("nowPlaying.subscribe")
            for row in Self.rows {
                var parameters = Self.parameters[row.command]?.objectValue ?? JSONObject()
                parameters["notAfter"] = 1
                #expect(client.refusal(row.command, .object(parameters)) == "200 late")
                guard row.command != "play" else { continue }
                parameters["itemId"] = 999_999
                #expect(client.refusal(row.command, .object(parameters)) == "100 otherItem")
            }
            #expect(client.events().isEmpty)
        }

        @Test("every change of what commands can do is one event, and what was set is given back with its client")
        func events() {
            client.call("nowPlaying.subscribe")
            enter("playing", "")
            _ = client.event("play")
            let version = client.call("commands.list")?["version"]
            var other: Client? = daemon.connect()
            let disabling: JSONValue = [
                "command": "nextTrack", "whileConnected": true, "enabled": false, "reason": "tea",
            ]
            let intervals: JSONValue = ["command": "skipForward", "whileConnected": true, "preferredIntervals": [3]]
            // A value that holds already is no change.
            for setting in [disabling, intervals, intervals] { other?.call("commands.configure", setting) }
            #expect(client.events() == ["commands", "commands"])
            #expect(client.refusal("nextTrack") == "200 disabled")
            other = nil
            let given = client.event()
            #expect(given.words == "commands")
            #expect(given["commandsVersion"] != version)
            #expect(client.refusal("nextTrack").isEmpty)
        }
    }
}
