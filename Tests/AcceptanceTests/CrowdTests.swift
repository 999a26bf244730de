import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

/// Two crowds of a hundred clients of two foreign users, each of which does all that it can against one limit.
private final class Crowds {
    /// A group whose members may control, and two users in it.
    static let group = 61_003
    private static let users = [61_011, 61_012]
    private let processes: [TestProcess]

    /// Starts both, and returns when all clients have begun. `file`: one that the deeds name.
    static func start(_ socket: String, _ deed: String, clients: Int = 100, file: String) async -> Crowds {
        let script = String(#filePath.dropLast("AcceptanceTests/CrowdTests.swift".count)) + "Crowd/crowd.py"
        let processes = await LoopThread.run {
            users.map { user in
                TestProcess(
                    [
                        "setpriv", "--reuid", "\(user)", "--regid", "\(group)", "--clear-groups", "/usr/bin/python3",
                        script, socket, deed, "\(clients)", file,
                    ], output: true)
            }
        }
        return Crowds(processes)
    }

    private init(_ processes: [TestProcess]) {
        self.processes = processes
        for process in processes { #expect(process.line { $0 == "full" } != nil, "the crowd ended") }
    }

    deinit { for process in processes { process.end() } }
}

extension Acceptance {
    /// The rows of the tables in docs/security.md: what others can make the programs hold and do.
    @Suite(.enabled(if: geteuid() == 0, "only root can become other users"), .timeLimit(.minutes(20)))
    struct CrowdTests {
        init() { LoopThread.start() }

        /// Seconds within which the owner has an answer.
        private static let patience = 0.1
        /// KiB by which the clients of foreign users let a program grow, at most: docs/security.md has 64 MiB for them, and
        /// memory in use and memory of the allocator differ.
        private static let growth = 128 << 10

        private static func settings(_ folder: TemporaryFolder, _ more: String = "") -> String {
            "[access]\ncontrol-group = \(Crowds.group)\nmedia-roots = \(folder.path)\n" + more
        }

        /// The deeds of a crowd, by the rows of the document.
        static let deeds: KeyValuePairs<String, [String]> = [
            "connections": ["connections"], "new connections": ["storm"], "unread answers": ["answers", "queues"],
            "answers of a batch": ["batches"],
            "unfinished lines": ["unfinished"], "unanswered requests": ["requests"], "open files": ["files"],
            "missed events": ["followers"], "threads for requests": ["requests"],
            "turns of the loop": ["flood", "states"],
            "items of a queue": ["items"], "sessions": ["sessions"], "waiting announcements": ["announcements"],
            "playlists of a request": ["requests"],
        ]

        /// The same of the library.
        static let libraryDeeds: KeyValuePairs<String, [String]> = [
            "connections": ["connections"], "new connections": ["storm"], "unread answers": ["answers", "pages"],
            "answers of a batch": ["batches"],
            "unfinished lines": ["unfinished"], "unanswered requests": ["counts"], "open files": ["files"],
            "missed events": ["watchers"], "threads for requests": ["counts"], "turns of the loop": ["flood"],
            "readers of the database": ["filters"], "time of a request": ["filters"], "tests of a filter": ["filters"],
            "rows of an answer": ["pages"], "lists in memory": ["lists"], "saved lists": ["lists"],
        ]

        /// The first cells of the rows of the tables in a section of the document.
        private func rows(of section: String) -> [String] {
            let root = String(#filePath.dropLast("Tests/AcceptanceTests/CrowdTests.swift".count))
            let text = String(decoding: (try? bytes(root + "docs/security.md")) ?? [], as: UTF8.self)
            let part = text.split(separator: "\n### ").first { $0.hasPrefix(section + "\n") } ?? ""
            let cells = part.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
                String(line.dropFirst(2).prefix { $0 != "|" }.dropLast())
            }
            return cells.filter { $0 != "What" }
        }

        private func bytes(_ path: String) throws -> [UInt8] {
            let file = try #require(fopen(path, "re"))
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = fread(&bytes, 1, bytes.count, file)
            return Array(bytes.prefix(count))
        }

        @Test("each row of the document has a deed here") func table() {
            #expect(rows(of: "The daemon") == Self.deeds.map(\.key))
            #expect(rows(of: "The library") == Array(Self.libraryDeeds.map(\.key).dropFirst(10)))
        }

        /// Asks a process for `seconds`; the longest time until an answer, without that for which the thread that waited longest
        /// for a processor did so.
        private func longest(_ seconds: Double, _ process: pid_t, _ ask: () -> Void) async -> Double {
            var longest = 0.0
            let end = now() + seconds
            while now() < end {
                let (before, begin) = (Self.waits(process), now())
                ask()
                let passed = now() - begin
                let waited = Self.waits(process).map { $0.value - (before[$0.key] ?? $0.value) }.max() ?? 0
                longest = max(longest, passed - waited)
                await LoopThread.wait(seconds: 0.02)
            }
            return longest
        }

        /// Seconds for which each thread of a process, and this one, was ready to run and had no processor.
        private static func waits(_ process: pid_t) -> [String: Double] {
            var seconds: [String: Double] = [:]
            let threads = ProcessFigures.threads(of: process).keys.map { "/proc/\(process)/task/\($0)" }
            for thread in threads + ["/proc/thread-self"] {
                guard let file = fopen(thread + "/schedstat", "re") else { continue }
                defer { fclose(file) }
                var numbers = [0, 0]
                _ = numbers.withUnsafeMutableBufferPointer { numbers in
                    withVaList([numbers.baseAddress!, numbers.baseAddress! + 1]) { vfscanf(file, "%ld %ld", $0) }
                }
                seconds[thread] = Double(numbers[1]) / 1e9
            }
            return seconds
        }

        @Test(
            "200 clients of two users at a limit of the daemon: no block is dropped, the owner has its answers",
            arguments: [
                "connections", "storm", "answers", "queues", "batches", "unfinished", "requests", "files", "followers",
                "flood",
                "states", "items", "sessions", "announcements",
            ])
        func daemon(deed: String) async throws {
            let folder = TemporaryFolder()
            chmod(folder.path, 0o755)
            let place = await RecordedSink.start(TestSink("crowd-\(deed)"), settings: Self.settings(folder), in: folder)
            let file = folder.codeWave("long.wav", from: 0, count: 44100 * 60)
            let bell = folder.silence("bell.wav", seconds: 0.1, rate: 44100, channels: 2)
            let owner = place.follow()
            owner.call("play", ["uri": .string(file)])
            let before = place.daemon.belongings
            let crowds = await Crowds.start(
                place.daemon.socket, deed, file: deed == "announcements" || deed == "items" ? bell : folder.path)
            var number = 0
            let longest = await longest(3, place.daemon.process.pid) {
                number += 1
                // Each second request is an event for the crowd, and each connection a new one.
                let client = number % 5 == 0 ? place.daemon.connect() : owner
                #expect(client.call("volume.set", ["volume": number % 2 == 0 ? 1 : 0.999]) != nil)
            }
            let during = place.daemon.belongings
            withExtendedLifetime(crowds) {}
            owner.call("volume.set", ["volume": 1])
            #expect(longest < Self.patience, "\(deed): \(longest) s")
            #expect(during.memory - before.memory < Self.growth, "\(deed): \(before.memory) → \(during.memory) KiB")
            print(
                "CROWD daemon \(deed): longest \(longest) s, \(before.memory) → \(during.memory) KiB, "
                    + "\(during.threads) threads, \(during.descriptors) descriptors")
            guard deed != "announcements" else { return }
            let runs = await place.runs()
            #expect(runs.count == 1, "\(deed): \(runs)")
            #expect(place.daemon.stop() == 0)
        }

        @Test(
            "200 clients of two users at a limit of the library: the music plays, the owner has its answers",
            arguments: [
                "connections", "storm", "answers", "pages", "batches", "unfinished", "counts", "files", "watchers",
                "flood",
                "filters", "lists", "updates",
            ])
        func library(deed: String) async throws {
            let folder = TemporaryFolder()
            chmod(folder.path, 0o755)
            let place = await RecordedSink.start(TestSink("shelf-\(deed)"), settings: Self.settings(folder), in: folder)
            let file = folder.codeWave("long.wav", from: 0, count: 44100 * 60)
            let owner = place.follow()
            owner.call("play", ["uri": .string(file)])
            // The state of each program is in a folder of its own.
            let shelf = TemporaryFolder()
            chmod(shelf.path, 0o755)
            shelf.folder("music")
            for number in 0..<300 {
                _ = shelf.write(
                    AudioMaterial.noise(frames: 800, sampleRate: 8000, channels: 1, seed: UInt64(number)).wave(),
                    "music/\(number).wav")
            }
            shelf.folder("state/lists")
            _ = shelf.write(
                Array(("#EXTM3U\n" + (1...90_000).map { "/music/a folder/\($0).flac\n" }.joined()).utf8),
                "state/lists/Long.m3u8")
            let library = await RealLibrary.start(
                in: shelf, Self.settings(shelf, "[library]\nfolders = \(shelf.path("music"))\n"))
            let client = try library.connect()
            #expect(becomes { (try? client.result("library.status"))?["tracks"] == 300 })
            let before = ProcessFigures(library.process.pid)
            let crowds = await Crowds.start(library.socket, deed, file: shelf.path)
            var number = 0
            let longest = await longest(3, library.process.pid) {
                number += 1
                let asker = number % 5 == 0 ? (try? library.connect()) ?? client : client
                let answer = try? asker.call("library.query", ["limit": 10])
                #expect(answer?["result"]?["rows"]?.arrayValue?.count == 10, "\(deed): \(answer ?? .null)")
            }
            let during = ProcessFigures(library.process.pid)
            withExtendedLifetime(crowds) {}
            #expect(longest < Self.patience, "\(deed): \(longest) s")
            #expect(during.memory - before.memory < Self.growth, "\(deed): \(before.memory) → \(during.memory) KiB")
            print(
                "CROWD library \(deed): longest \(longest) s, \(before.memory) → \(during.memory) KiB, "
                    + "\(during.threads) threads, \(during.descriptors) descriptors")
            let runs = await place.runs()
            #expect(runs.count == 1, "\(deed): \(runs)")
            #expect(library.stop() == 0)
        }
    }
}
