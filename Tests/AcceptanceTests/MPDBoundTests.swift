import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// The bounds of nowplaying-mpd in docs/security.md, each filled from 200 clients of two users while music plays.
    @Suite(.timeLimit(.minutes(10)), .enabled(if: geteuid() == 0, "needs other users"))
    struct MPDBoundTests {
        /// The bounds of each right.
        private static let rows: KeyValuePairs<String, [String]> = [
            "none": ["places", "line", "list", "passwords"],
            "read": ["line", "list", "turns", "answers", "patterns", "values", "sorts", "pictures"],
            "read,add": ["long-list"],
            "read,control,admin": ["messages", "stickers"],
        ]

        /// Bytes of memory of nowplaying-mpd in docs/security.md.
        private static let memory = 192 << 20
        /// Seconds for an answer to the owner.
        private static let patience = 0.1
        /// Seconds in which the crowd works.
        private static let time = 2.0
        /// Songs of the queue, which a sort keeps in memory.
        private static let queued = 6000
        private static let songs = 300

        init() {
            ProcessorPriority.raise()
            LoopThread.start()
        }

        @Test("music and the owner notice nothing of a crowd at a bound") func bounds() async throws {
            let place = await RecordedSink.start(TestSink("mpd-bound"))
            let folder = place.daemon.folder
            chmod(folder.path, 0o755)
            let music = folder.codeWave("music.wav", from: 0, count: 44100 * 300)
            write(folder)
            let library = await LoopThread.run {
                TestProcess([RealDaemon.program("nowplaying-library")] + words(place, "none"))
            }
            defer { library.end() }
            var marks: [(row: String, frame: Int)] = []
            for (rights, bounds) in Self.rows {
                for bound in bounds {
                    let row = "\(bound), \(rights)"
                    let log = "bridge-\(marks.count).log"
                    let start = ["sh", "-c", "exec \"$@\" 2> \"$0\"", folder.path(log)]
                    let bridge = await LoopThread.run {
                        TestProcess(start + [RealDaemon.program("nowplaying-mpd")] + words(place, rights))
                    }
                    defer { bridge.end() }
                    precondition(
                        becomes {
                            (try? LineClient(folder.path("mpd.sock")).value("songs", of: "stats")) == "\(Self.songs)"
                        }, "the bridge did not come up, or the library did not find the songs")
                    let owner = try LineClient(folder.path("mpd.sock"))
                    if marks.isEmpty { try await play(music, owner, place) }
                    marks.append((row, place.recorder.frames))
                    let crowds = await crowds(folder, bound, number: marks.count)
                    defer { for crowd in crowds { crowd.end() } }
                    for crowd in crowds { #expect(crowd.line { $0.hasPrefix("ready ") } == "ready 100") }
                    let slowest = try slowestAnswer(owner, place, bridge)
                    let peak = Self.peak(of: bridge)
                    print("CROWD mpd \(row): slowest answer \(slowest) s, peak \(peak >> 20) MiB")
                    #expect(slowest < Self.patience, "\(row)")
                    #expect(peak < Self.memory, "\(row)")
                    let lines = String(decoding: folder.read(log), as: UTF8.self).split(separator: "\n")
                    let guesses = lines.count { $0.contains("wrong password") }
                    // Hundreds of wrong passwords come in these seconds.
                    #expect(bound == "passwords" ? 1...10 ~= guesses : guesses == 0, "\(row): \(lines)")
                    #expect(lines.count <= 20, "\(row): \(lines)")
                }
            }
            let runs = await place.runs()
            #expect(runs.count == 1 && runs.first?.frame == 0, "\(runs), beside \(marks)")
        }

        /// Plays the music, with many songs after it.
        private func play(_ music: String, _ owner: LineClient, _ place: RecordedSink) async throws {
            #expect(try owner.ask("add \(music)") == ["OK"])
            for _ in 0..<(Self.queued / Self.songs) { #expect(try owner.ask("add folder") == ["OK"]) }
            #expect(try owner.ask("play 0") == ["OK"])
            await place.recorder.waitFor(more: 0.5)
        }

        /// Writes the songs of the library.
        private func write(_ folder: TemporaryFolder) {
            let sound = AudioMaterial(
                sampleRate: 44_100, channels: 1, bits: 16, samples: Array(repeating: 0, count: 441))
            var options = FLACOptions()
            let text = String(repeating: "a", count: 400)
            folder.folder("songs/folder")
            // A picture of 300 KiB, which needs several reads.
            _ = folder.write([0xFF, 0xD8, 0xFF] + [UInt8](repeating: 7, count: 300 << 10), "songs/folder/cover.jpg")
            for number in 0..<Self.songs {
                let comments = [
                    "TITLE=\(text) \(number)", "ARTIST=\(text) \(number % 20)", "ALBUM=\(text) \(number % 50)",
                ]
                options.blocks = [AudioMaterial.vorbisComments(comments.map { Array($0.utf8) })]
                _ = folder.write(sound.flac(options), "songs/folder/\(number).flac")
            }
        }

        /// Words of the command lines of the bridge and the library. `rights`: those of the crowds.
        private func words(_ place: RecordedSink, _ rights: String) -> [String] {
            let folder = place.daemon.folder
            let settings = """
                [library]
                folders = \(folder.path("songs"))
                state-directory = \(folder.path("library"))
                [access]
                media-roots = \(folder.path("songs"))
                [mpd]
                bind = \(folder.path("mpd.sock"))
                password = right@read
                default-permissions = \(rights)

                """
            return ["--socket", place.daemon.socket, "--config", folder.write(Array(settings.utf8), "mpd.conf")]
        }

        /// Two users with 100 connections each. Each row has users of its own, as some bounds remember a user.
        private func crowds(_ folder: TemporaryFolder, _ bound: String, number: Int) async -> [TestProcess] {
            let root = String(#filePath.dropLast("AcceptanceTests/MPDBoundTests.swift".count))
            precondition(AudioMaterial.run("cp", [root + "MPD/crowd.py", folder.path("crowd.py")]) == 0)
            chmod(folder.path("crowd.py"), 0o644)
            return await LoopThread.run {
                [4711, 4712].map { $0 + 2 * number }.map { user in
                    TestProcess(
                        [
                            "setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "/usr/bin/python3",
                            folder.path("crowd.py"), folder.path("mpd.sock"), "100", bound,
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
