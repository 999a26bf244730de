import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Numbers that no part of the daemon can count with, in each place of the protocol that takes a number: an answer each
    /// time, and the daemon plays on, then and after a restart.
    @Suite(.timeLimit(.minutes(5))) struct NumberTableTests {
        private static let situations = ["stopped", "playing", "paused", "unopened", "live"]

        private static func enter(_ situation: String, _ client: Client, _ file: String) -> Int64 {
            client.call("queue.clear")
            let item: JSONValue = ["uri": .string(file), "isLiveStream": .bool(situation == "live")]
            let ids = client.call("queue.add", ["items": [item, .string(file)]])?["ids"]?.arrayValue
            // While it is stopped, the next item is gone to without being opened.
            if situation == "unopened" { client.call("nextTrack") } else { client.call("play") }
            if situation == "stopped" { client.call("stop") }
            if situation == "paused" { client.call("pause") }
            return ids?.first?.integerValue ?? 0
        }

        @Test("each number of each method at each value that may hurt", arguments: situations)
        func everyNumber(situation: String) async throws {
            let folder = TemporaryFolder()
            let file = folder.silence("numbers.wav", seconds: 60)
            let bell = folder.silence("bell.wav", seconds: 0.01)
            do {
                let daemon = await RealDaemon.start(nil, output: "null", in: folder, readsTitles: false)
                let client = daemon.connect()
                client.call("session.create", ["name": "outside", "external": true])
                let first = Self.enter(situation, client, file)
                let rows = NumberTable(uri: file, bell: bell, item: first, session: "outside").rows
                // As many as there were when this was written, or more.
                #expect(rows.count >= 100)
                for row in rows {
                    // A connection of its own gives up its rights.
                    let sender = row.method.name == "hello" ? daemon.connect() : client
                    let item = Self.enter(situation, client, file)
                    for parameters in row.parameters {
                        // Each begins the row with a queue of its own.
                        let own = parameters.replacing("[\(first)]", with: "[\(item)]").replacing(
                            "\"id\":\(first)", with: "\"id\":\(item)")
                        let number = sender.sendText(row.method.name, own)
                        let answer = sender.answer(number)
                        try #require(
                            answer["result"] != nil || answer["error"] != nil,
                            "\(situation): \(row.method.name) \(own) ended the daemon")
                        if row.method.name == "session.create" { client.call("session.close", ["name": "numbers"]) }
                    }
                    try #require(
                        client.call("nowPlaying.get") != nil, "\(situation): \(row.method.name) \(row.path)")
                }
                _ = Self.enter(situation, client, file)
                #expect(client.call("play", ["uri": .string(file)])?["state"] == "playing")
                // The farthest place that is taken is saved, and the daemon is killed.
                _ = Self.enter("unopened", client, file)
                #expect(client.refusal("changePlaybackPosition", ["position": 1e7]).isEmpty)
                daemon.process.signal(SIGKILL)
                daemon.process.wait()
            }
            let daemon = await RealDaemon.start(nil, output: "null", in: folder, readsTitles: false)
            let client = daemon.connect()
            #expect(client.call("queue.list")?["count"] == 2)
            #expect(client.refusal("play").isEmpty)
            #expect(client.call("play", ["uri": .string(file)])?["state"] == "playing")
        }
    }
}
