import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

/// Two crowds of a hundred clients of two foreign users, each of which does all that it can against one limit.
private final class Crowds {
    /// A group whose members may control.
    static let group = 61_003
    private let processes: [TestProcess]
    private var left: [TestProcess]

    /// Starts both. `file`: one that the deeds name. `number`: that of the deed, which has two users of its own, as some bounds
    /// remember a user.
    static func start(
        _ socket: String, _ deed: String, number: Int, clients: Int = 100, file: String
    ) async -> Crowds {
        let script = String(#filePath.dropLast("AcceptanceTests/CrowdTests.swift".count)) + "Crowd/crowd.py"
        let processes = await LoopThread.run {
            [61_011, 61_012].map { user in
                TestProcess(
                    [
                        "setpriv", "--reuid", "\(user + 2 * number)", "--regid", "\(group)", "--clear-groups",
                        "/usr/bin/python3", script, socket, deed, "\(clients)", file,
                    ], output: true)
            }
        }
        return Crowds(processes)
    }

    private init(_ processes: [TestProcess]) {
        self.processes = processes
        left = processes
    }

    /// True once all clients of both have done their deed, or were turned away. Does not wait.
    var areFull: Bool {
        left.removeAll { process in
            var line = pollfd(fd: process.output, events: Int16(POLLIN), revents: 0)
            guard poll(&line, 1, 0) > 0 else { return false }
            #expect(process.line { $0 == "full" } != nil, "the crowd ended")
            return true
        }
        return left.isEmpty
    }

    deinit {
        for process in processes {
            process.end()
            close(process.output)
        }
    }
}

extension Acceptance {
    /// The rows of the tables in docs/security.md: what others can make the programs hold and do.
    @Suite(.enabled(if: geteuid() == 0, "only root can become other users"), .timeLimit(.minutes(20)))
    struct CrowdTests {
        init() {
            ProcessorPriority.raise()
            LoopThread.start()
        }

        /// Seconds within which the owner has an answer.
        private static let patience = 0.1
        /// Seconds for which a crowd stays at its limit.
        private static let time = 1.5
        /// KiB by which the clients of foreign users let a program grow, at most: docs/security.md has 64 MiB for them, and
        /// memory in use and memory of the allocator differ.
        private static let growth = 128 << 10

        private static func settings(_ folder: TemporaryFolder, _ more: String = "") -> String {
            "[access]\ncontrol-group = \(Crowds.group)\nmedia-roots = \(folder.path)\n" + more
        }

        /// The deeds of a crowd, by the rows of the document, and suites of the pure parts of which a row speaks.
        static let deeds: KeyValuePairs<String, [String]> = [
            "connections": ["connections"], "new connections": ["storm"], "unread answers": ["answers", "queues"],
            "answers of a batch": ["batches"],
            "unfinished lines": ["unfinished"], "unanswered requests": ["requests"], "open files": ["files"],
            "missed events": ["followers"], "threads for requests": ["requests"],
            "turns of the loop": ["flood", "states"],
            "items of a queue": ["items", "QueueTests"], "sessions": ["sessions"],
            "waiting announcements": ["announcements"],
            "playlists of a request": ["PlaylistMediaTests"],
        ]

        /// The same of the library.
        static let libraryDeeds: KeyValuePairs<String, [String]> = [
            "connections": ["connections"], "new connections": ["storm"], "unread answers": ["answers", "pages"],
            "answers of a batch": ["batches"],
            "unfinished lines": ["unfinished"], "unanswered requests": ["counts"], "open files": ["files"],
            "missed events": ["watchers"], "threads for requests": ["counts"], "turns of the loop": ["flood"],
            "readers of the database": ["filters"], "time of a request": ["filters"], "tests of a filter": ["filters"],
            "rows of an answer": ["pages"], "lists in memory": ["lists"],
            "saved lists": ["ListFolderTests", "ListEditTests"],
        ]

        /// The deeds, in their order.
        private static let ofDaemon = [
            "connections", "storm", "answers", "queues", "batches", "unfinished", "requests", "files", "followers",
            "flood", "states", "sessions", "items", "announcements",
        ]
        private static let ofLibrary = [
            "connections", "storm", "answers", "pages", "batches", "unfinished", "counts", "files", "watchers", "flood",
            "filters", "lists", "updates",
        ]

        /// The names that are neither one of these deeds nor a suite.
        private func unknown(_ names: KeyValuePairs<String, [String]>, _ deeds: [String]) -> [String] {
            let tests = String(#filePath.dropLast("AcceptanceTests/CrowdTests.swift".count))
            let suites = ["AcceptanceTests", "MediaAccessTests", "LibraryRuntimeTests"]
            return names.flatMap(\.value).filter { name in
                !deeds.contains(name)
                    && !suites.contains { access(tests + $0 + "/" + name + ".swift", F_OK) == 0 }
            }
        }

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
            #expect(unknown(Self.deeds, Self.ofDaemon).isEmpty)
            #expect(unknown(Self.libraryDeeds, Self.ofLibrary).isEmpty)
        }

        /// Asks while a crowd begins and for a while at its limit; the longest time until an answer, without that for which the
        /// thread that waited longest for a processor did so.
        private func longest(
            _ deed: String, of process: pid_t, beside crowds: Crowds, _ ask: () -> Void
        ) async -> Double {
            var longest = 0.0
            var end = Double.infinity
            var count = 0
            while now() < end {
                let (before, begin) = (Self.waits(process), now())
                ask()
                let passed = now() - begin
                let waited = Self.waits(process).map { $0.value - (before[$0.key] ?? $0.value) }.max() ?? 0
                longest = max(longest, passed - waited)
                count += 1
                if end == .infinity, crowds.areFull { end = now() + Self.time }
                await LoopThread.wait(seconds: 0.005)
            }
            print("CROWD \(deed): longest \(longest) s of \(count) answers")
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

        /// Judges the resources of a program at a limit.
        private func judge(_ deed: String, _ before: ProcessFigures, _ during: ProcessFigures) {
            #expect(during.memory - before.memory < Self.growth, "\(deed): \(before.memory) → \(during.memory) KiB")
            print(
                "CROWD \(deed): \(before.memory) → \(during.memory) KiB, \(during.threads) threads, "
                    + "\(during.descriptors) descriptors")
        }

        /// One daemon for each deed, as it carries out the last requests of clients that are gone; one recording of all.
        @Test("200 clients of two users at each limit of the daemon: no block is dropped, the owner has its answers")
        func daemon() async throws {
            let server = await SharedServer.pulseAudio.value
            let sink = TestSink("crowd")
            let module = server.load(sink)
            defer { server.control("unload-module", module) }
            let recorder = await Recorder.start(server, sink)
            for (index, deed) in Self.ofDaemon.enumerated() {
                // The sound of an announcement is not the music.
                if deed == "announcements" {
                    await recorder.waitFor(more: 0.3)
                    let runs = await recorder.runs()
                    #expect(runs.count == index && runs.allSatisfy { $0.frame == 0 }, "\(runs)")
                    recorder.stop()
                }
                let folder = TemporaryFolder()
                chmod(folder.path, 0o755)
                let settings = folder.write(Array(Self.settings(folder).utf8), "settings.conf")
                let daemon = await RealDaemon.start(server, sink: sink.name, in: folder, ["--config", settings])
                let file = folder.codeWave("long.wav", from: 0, count: 44100 * 60)
                let bell = folder.silence("bell.wav", seconds: 0.1, rate: 44100, channels: 2)
                let owner = daemon.connect()
                owner.call("nowPlaying.subscribe")
                owner.call("play", ["uri": .string(file)])
                let before = daemon.belongings
                let named = deed == "announcements" || deed == "items" ? bell : folder.path
                let crowds = await Crowds.start(daemon.socket, deed, number: index, file: named)
                var number = 0
                let longest = await longest(deed, of: daemon.process.pid, beside: crowds) {
                    number += 1
                    // Each second request is an event for the crowd, and each fifth connection a new one.
                    let client = number % 5 == 0 ? daemon.connect() : owner
                    #expect(client.call("volume.set", ["volume": number % 2 == 0 ? 1 : 0.999]) != nil)
                }
                let during = daemon.belongings
                withExtendedLifetime(crowds) {}
                #expect(longest < Self.patience, "\(deed): \(longest) s")
                judge(deed, before, during)
                #expect(daemon.stop() == 0)
            }
        }

        @Test("200 clients of two users at each limit of the library: the music plays, the owner has its answers")
        func library() async throws {
            let folder = TemporaryFolder()
            chmod(folder.path, 0o755)
            let place = await RecordedSink.start(TestSink("shelf"), settings: Self.settings(folder), in: folder)
            let file = folder.codeWave("long.wav", from: 0, count: 44100 * 300)
            let owner = place.follow()
            owner.call("play", ["uri": .string(file)])
            let (shelf, settings) = shelf()
            var marks: [(deed: String, frame: Int)] = []
            for (index, deed) in Self.ofLibrary.enumerated() {
                marks.append((deed, place.recorder.frames))
                let library = await RealLibrary.start(in: shelf, settings)
                let client = try library.connect()
                #expect(becomes { (try? client.result("library.status"))?["tracks"] == 300 })
                let before = ProcessFigures(library.process.pid)
                let crowds = await Crowds.start(library.socket, deed, number: index, file: shelf.path)
                var number = 0
                let longest = await longest(deed, of: library.process.pid, beside: crowds) {
                    number += 1
                    let asker = number % 5 == 0 ? (try? library.connect()) ?? client : client
                    let answer = try? asker.call("library.query", ["limit": 10])
                    #expect(answer?["result"]?["rows"]?.arrayValue?.count == 10, "\(deed): \(answer ?? .null)")
                }
                let during = ProcessFigures(library.process.pid)
                withExtendedLifetime(crowds) {}
                #expect(longest < Self.patience, "\(deed): \(longest) s")
                judge("library, " + deed, before, during)
                #expect(library.stop() == 0)
            }
            let runs = await place.runs()
            #expect(runs.count == 1, "\(runs), beside \(marks)")
        }

        /// The folder of a library with 300 songs and a long list, and its settings.
        private func shelf() -> (TemporaryFolder, settings: String) {
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
            return (shelf, Self.settings(shelf, "[library]\nfolders = \(shelf.path("music"))\n"))
        }
    }
}
