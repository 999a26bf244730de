import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// The bounds of nowplaying-mpd in docs/security.md, each filled from 200 clients of two users while music plays.
    @Suite(.timeLimit(.minutes(10)), .enabled(if: geteuid() == 0, "needs other users"))
    struct MPDBoundTests {
        /// A row of the table.
        struct Row: CustomTestStringConvertible, Sendable {
            /// Key of Tests/MPD/crowd.py.
            let bound: String
            /// Rights of the users of the crowd.
            let rights: String

            var testDescription: String { "\(bound), \(rights)" }
        }

        private static let rows = [
            Row(bound: "places", rights: "none"), Row(bound: "line", rights: "none"),
            Row(bound: "list", rights: "none"), Row(bound: "passwords", rights: "none"),
            Row(bound: "line", rights: "read"),
            Row(bound: "list", rights: "read"), Row(bound: "long-list", rights: "read,add"),
            Row(bound: "turns", rights: "read"), Row(bound: "answers", rights: "read"),
            Row(bound: "patterns", rights: "read"), Row(bound: "values", rights: "read"),
            Row(bound: "messages", rights: "read,control"),
        ]

        /// Bytes of memory of nowplaying-mpd in docs/security.md.
        private static let memory = 192 << 20
        /// Seconds for an answer to the owner.
        private static let patience = 0.1
        /// Seconds in which the crowd works.
        private static let time = 4.0
        private static let songs = 300

        init() { LoopThread.start() }

        @Test("music and the owner notice nothing of a crowd at a bound", arguments: rows)
        func bound(_ row: Row) async throws {
            let place = await RecordedSink.start(TestSink("mpd-bound"))
            let folder = place.daemon.folder
            chmod(folder.path, 0o755)
            let music = folder.codeWave("music.wav", from: 0, count: 44100 * 60)
            let (bridge, library) = await house(place, row)
            defer { for process in [bridge, library] { process.end() } }
            let owner = try LineClient(folder.path("mpd.sock"))
            precondition(
                becomes { (try? owner.value("songs", of: "stats")) == "\(Self.songs)" },
                "the library did not find the songs")
            #expect(try owner.ask("add \(music)") == ["OK"])
            #expect(try owner.ask("add folder") == ["OK"])
            #expect(try owner.ask("play 0") == ["OK"])
            await place.recorder.waitFor(more: 0.5)
            let crowds = await crowds(folder, row)
            defer { for crowd in crowds { crowd.end() } }
            for crowd in crowds { #expect(crowd.line { $0.hasPrefix("ready ") } == "ready 100") }
            let slowest = try slowestAnswer(owner, place, bridge)
            let peak = Self.peak(of: bridge)
            for crowd in crowds { crowd.end() }
            if environmentHas("NOWPLAYING_FIGURES") {
                print("\(row.testDescription): slowest answer \(slowest) s, peak \(peak >> 20) MiB")
            }
            #expect(slowest < Self.patience)
            #expect(peak < Self.memory)
            #expect(try owner.ask("stop") == ["OK"])
            let runs = await place.runs()
            // The end of the music is wherever the stop came.
            #expect(runs.count == 1 && runs.first?.frame == 0, "\(runs)")
        }

        /// The bridge and a library with songs, beside a daemon.
        private func house(_ place: RecordedSink, _ row: Row) async -> (TestProcess, TestProcess) {
            let folder = place.daemon.folder
            let sound = AudioMaterial(
                sampleRate: 44_100, channels: 1, bits: 16, samples: Array(repeating: 0, count: 441))
            var options = FLACOptions()
            let text = String(repeating: "a", count: 400)
            folder.folder("songs/folder")
            for number in 0..<Self.songs {
                let comments = [
                    "TITLE=\(text) \(number)", "ARTIST=\(text) \(number % 20)", "ALBUM=\(text) \(number % 50)",
                ]
                options.blocks = [AudioMaterial.vorbisComments(comments.map { Array($0.utf8) })]
                _ = folder.write(sound.flac(options), "songs/folder/\(number).flac")
            }
            let settings = """
                [library]
                folders = \(folder.path("songs"))
                state-directory = \(folder.path("library"))
                [access]
                media-roots = \(folder.path("songs"))
                [mpd]
                bind = \(folder.path("mpd.sock"))
                password = right@read
                default-permissions = \(row.rights)

                """
            let file = folder.write(Array(settings.utf8), "mpd.conf")
            let words = ["--socket", place.daemon.socket, "--config", file]
            let processes = await LoopThread.run {
                ["nowplaying-mpd", "nowplaying-library"].map { TestProcess([RealDaemon.program($0)] + words) }
            }
            precondition(
                becomes { (try? LineClient(folder.path("mpd.sock")).value("volume", of: "status")) != nil },
                "the bridge did not come up")
            return (processes[0], processes[1])
        }

        /// Two users with 100 connections each.
        private func crowds(_ folder: TemporaryFolder, _ row: Row) async -> [TestProcess] {
            let root = String(#filePath.dropLast("AcceptanceTests/MPDBoundTests.swift".count))
            precondition(AudioMaterial.run("cp", [root + "MPD/crowd.py", folder.path("crowd.py")]) == 0)
            chmod(folder.path("crowd.py"), 0o644)
            return await LoopThread.run {
                [4711, 4712].map { user in
                    TestProcess(
                        [
                            "setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "/usr/bin/python3",
                            folder.path("crowd.py"), folder.path("mpd.sock"), "100", row.bound,
                        ], output: true)
                }
            }
        }

        /// Seconds of the slowest answer to the owner while the crowd works, without the time that the machine took.
        private func slowestAnswer(
            _ owner: LineClient, _ place: RecordedSink, _ bridge: TestProcess
        ) throws -> Double {
            let processes = [bridge.pid, place.daemon.process.pid, getpid()]
            let begin = EventLoop.now
            var slowest = 0.0
            while EventLoop.now.seconds(since: begin) < Self.time {
                for line in ["status", "playlistinfo 0:2", "currentsong"] {
                    let waits = ProcessorWaits(of: processes)
                    let start = EventLoop.now
                    #expect(try owner.ask(line).last == "OK")
                    let took = EventLoop.now.seconds(since: start)
                    slowest = max(slowest, took - max(0, ProcessorWaits(of: processes).seconds(since: waits)))
                }
            }
            return slowest
        }

        /// Maximum bytes of memory that a process has had.
        private static func peak(of process: TestProcess) -> Int {
            guard let file = fopen("/proc/\(process.pid)/status", "r") else { return .max }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, 256, file) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                let words = text.split(whereSeparator: \.isWhitespace)
                if words.first == "VmHWM:", words.count > 1, let kibibytes = Int(words[1]) { return kibibytes << 10 }
            }
            return .max
        }
    }
}
