import ControlProtocol
import Glibc
import TestSupport
import Testing

/// A daemon that is killed while feedback of files is set, with a model of its answers.
private final class RatedDaemon {
    private let folder = TemporaryFolder()
    private var numbers = SeededRandom(seed: 1109)
    private var files: [String] = []
    /// Ratings that a file may have: the last that was answered, and those sent after it.
    private var allowed: [[Double?]] = []
    private var daemon: RealDaemon
    private var client: Client
    private var cursor: JSONValue = "0"
    /// Ratings by identity, as a mirror has them that follows `feedback.changes` alone.
    private var mirror: [String: Double] = [:]
    private(set) var answers = 0
    private(set) var renames = 0

    init() async {
        let folder = folder
        files = (0..<8).map { number in
            let wave = AudioMaterial.noise(frames: 4000, sampleRate: 8000, seed: UInt64(number + 1)).wave()
            return folder.write(wave, "\(number).wav")
        }
        allowed = files.map { _ in [nil] }
        daemon = await RealDaemon.start(nil, output: "null", in: folder)
        client = daemon.connect()
    }

    private func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &numbers) }

    /// Sets ratings, of which some are answered, kills the daemon, renames a file, and compares.
    func round(_ round: Int) async throws {
        var pending: [(request: Int, file: Int, rating: Double)] = []
        for _ in 0..<(4 + chance(20)) {
            let (file, rating) = (chance(files.count), Double(chance(41)) / 8)
            let request = client.send("feedback.set", ["uri": .string(files[file]), "rating": .number(rating)])
            pending.append((request, file, rating))
            allowed[file].append(rating)
        }
        for (request, file, rating) in pending.prefix(chance(pending.count)) {
            #expect(client.answer(request)["result"]?["rating"]?.doubleValue == rating)
            answers += 1
            // Nothing before it can come back.
            allowed[file].removeSubrange(..<(allowed[file].firstIndex(of: rating) ?? 0))
        }
        daemon.process.signal(SIGKILL)
        daemon.process.wait()
        let moved = chance(files.count)
        let name = folder.path("\(moved) after \(round).wav")
        #expect(rename(files[moved], name) == 0)
        files[moved] = name
        renames += 1
        daemon = await RealDaemon.start(nil, output: "null", in: folder)
        client = daemon.connect()
        try look(round)
    }

    private func look(_ round: Int) throws {
        let answer = client.call("feedback.get", ["uris": .array(files.map { .string($0) })])
        let items = answer?["items"]?.arrayValue ?? []
        try #require(items.count == files.count)
        let changes = try #require(client.call("feedback.changes", ["since": cursor]))
        #expect(changes["reset"] == nil, "round \(round)")
        for item in changes["items"]?.arrayValue ?? [] {
            mirror[item["identity"]?.stringValue ?? ""] = item["rating"]?.doubleValue
        }
        cursor = changes["next"] ?? .null
        for (file, item) in items.enumerated() {
            let rating = item["rating"]?.doubleValue
            #expect(allowed[file].contains(rating), "round \(round), \(file): \(rating ?? -1) of \(allowed[file])")
            #expect(mirror[item["identity"]?.stringValue ?? ""] == rating, "round \(round), \(file): mirrored")
            allowed[file] = [rating]
        }
    }

    /// Ends it, and returns the words of SQLite about its database.
    func stop() -> [String] {
        #expect(daemon.stop() == 0)
        #expect(access(folder.path("state/feedback.db.broken"), F_OK) != 0)
        return SQLiteCheck.words(folder.path("state/feedback.db"))
    }
}

extension Acceptance {
    /// Feedback that is set while the daemon is killed.
    @Suite(.timeLimit(.minutes(20))) struct FeedbackCampaignTests {
        @Test("killed while feedback is set, it has all that it answered, and its database is sound")
        func kills() async throws {
            LoopThread.start()
            let rated = await RatedDaemon()
            let times = Campaign.times(4, long: 100)
            for round in 1...times { try await rated.round(round) }
            let words = rated.stop()
            #expect(words == ["ok"])
            Campaign.report(
                "the daemon killed while feedback is set (kill -9)", times,
                "\(rated.answers) answered changes, none lost; \(rated.renames) renamed files; the database: "
                    + words.joined(separator: ", "))
        }
    }
}
