import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Files that are crafted to end the daemon: played, searched for pictures, and there again after a restart.
    @Suite(.timeLimit(.minutes(60))) struct CraftedFileTests {
        init() { LoopThread.start() }

        /// Files of a queue that is there again after a restart.
        private static let batch = 10

        @Test("crafted files of every container, through play, pictures and restart: the daemon lives")
        func containers() async throws {
            // Another seed of the random numbers is another set of files: NOWPLAYING_SEED names one.
            let seed = currentEnvironment()["NOWPLAYING_SEED"].flatMap { UInt64($0) } ?? 1
            let count = repetitions(2, nightly: 100)
            let seeds = CraftedFiles.seeds()
            #expect(seeds.count > 15, "ffmpeg could not write the files to begin with")
            var numbers = SeededRandom(seed: seed)
            var names: [(container: CraftedFiles.Seed, number: Int)] = []
            for container in seeds { names += (0..<count).map { (container, $0) } }
            for start in stride(from: 0, to: names.count, by: Self.batch) {
                let folder = TemporaryFolder()
                let part = names[start..<min(start + Self.batch, names.count)]
                let files = part.map { container, number in
                    folder.write(CraftedFiles.crafted(container, &numbers), "\(number)-\(container.name)")
                }
                await play(files, in: folder, "seed \(seed), files from \(start)")
            }
        }

        @Test("an Ogg header of 256 MiB is refused, and takes no memory of its size") func largeHeader() async throws {
            let folder = TemporaryFolder()
            let wave = folder.write(AudioMaterial.waves(frames: 4800, sampleRate: 48_000).wave(), "a.wav")
            var files: [String] = []
            for (name, coder) in [("a.ogg", "libvorbis"), ("a.opus", "libopus"), ("a.oga", "flac")] {
                let words = ["-v", "error", "-nostdin", "-y", "-i", wave, "-c:a", coder, folder.path(name)]
                try #require(AudioMaterial.run("ffmpeg", words) == 0)
                let whole = folder.read(name)
                files.append(Self.grow(whole, in: folder, "large-" + name))
                files.append(Self.grow(whole, in: folder, "second-" + name, behind: whole))
            }
            let daemon = await RealDaemon.start(nil, output: "null", in: folder)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe", ["causes": ["play", "error", "stop"]])
            for file in files {
                client.call("queue.clear")
                client.call("queue.add", ["items": [.string(file)], "play": true])
                _ = client.event("play", "error", "stop")
                takePictures(client)
            }
            // Without the bound it was several times 256 MiB.
            let peak = Self.peakMemory(daemon.process.pid)
            #expect(peak > 0 && peak < 100 << 10, "\(peak) KiB")
            #expect(daemon.stop() == 0)
        }

        /// Writes `before` and then an Ogg file whose second packet goes on through 256 MiB of pages that are mostly holes.
        private static func grow(
            _ whole: [UInt8], in folder: TemporaryFolder, _ name: String, behind before: [UInt8] = []
        ) -> String {
            func pageEnd(_ start: Int) -> Int {
                let head = start + 27 + Int(whole[start + 26])
                return head + whole[(start + 27)..<head].reduce(0) { $0 + Int($1) }
            }
            var first = Array(whole[..<pageEnd(0)])
            // Another stream than that before it.
            if !before.isEmpty { first[14] ^= 0xFF }
            let path = folder.write(before + first, name)
            let file = open(path, O_WRONLY | O_CLOEXEC)
            defer { close(file) }
            var place = before.count + first.count
            for number in 1...4200 as ClosedRange<UInt32> {
                var head: [UInt8] = Array("OggS".utf8) + [0, number == 1 ? 0 : 1] + [UInt8](repeating: 0xFF, count: 8)
                head += first[14..<18]
                head += (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } + [0, 0, 0, 0, 255]
                head += [UInt8](repeating: 255, count: 255)
                // The packet begins as that of the file does, so that it is taken for a header.
                if number == 1 { head += whole[(first.count + 27 + Int(whole[first.count + 26]))...].prefix(12) }
                pwrite(file, head, head.count, off_t(place))
                place += 27 + 255 + 255 * 255
            }
            ftruncate(file, off_t(place))
            return path
        }

        /// The most memory that a process had, in KiB.
        private static func peakMemory(_ process: pid_t) -> Int {
            guard let file = fopen("/proc/\(process)/status", "r") else { return 0 }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, 256, file) != nil {
                let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                    .split(whereSeparator: \.isWhitespace)
                if words.first == "VmHWM:", words.count > 1 { return Int(words[1]) ?? 0 }
            }
            return 0
        }

        /// Gets each picture of the present item, once the search for them has ended.
        private func takePictures(_ client: Client) {
            #expect(
                becomes {
                    client.isBroken || client.call("diagnostics.get")?["artwork"]?["state"] != "searching"
                })
            for picture in client.call("nowPlaying.get")?["item"]?["artwork"]?.arrayValue ?? [] {
                if let id = picture["id"] { client.call("artwork.get", ["id": id]) }
            }
        }

        /// Plays each file, then all of them before and after a restart.
        private func play(_ files: [String], in folder: TemporaryFolder, _ words: String) async {
            let conf = folder.write(
                Array("[daemon]\ncache-directory = \(folder.path("cache"))\n[playback]\nresume = playing\n".utf8),
                "conf")
            let arguments = ["--config", conf]
            var daemon = await RealDaemon.start(nil, output: "null", in: folder, arguments)
            var client = daemon.connect()
            client.call("nowPlaying.subscribe", ["causes": ["play", "error", "stop"]])
            var last = ""
            for file in files {
                let name = String(file.split(separator: "/").last ?? "")
                client.call("queue.clear")
                if client.call("queue.add", ["items": [.string(file)], "play": true]) != nil {
                    _ = client.event("play", "error", "stop")
                }
                takePictures(client)
                for (method, parameters) in [
                    ("changePlaybackPosition", ["position": 0.3]), ("nowPlaying.get", [:]),
                    ("changePlaybackPosition", ["position": 3600]), ("queue.list", [:]),
                ] as [(String, JSONValue)] {
                    client.call(method, parameters)
                }
                if client.isBroken {
                    Issue.record("the daemon ended with \(name) or \(last) (\(words)): status \(daemon.process.wait())")
                    return
                }
                last = name
            }
            client.call("queue.clear")
            // The first of them may be refused, with all of them in the queue.
            client.call("queue.add", ["items": .array(files.map { .string($0) }), "play": true])
            func count() -> Int? { client.call("queue.list")?["items"]?.arrayValue?.count }
            let before = count()
            #expect((before ?? 0) > 0, "\(words)")
            #expect(daemon.stop() == 0, "\(words)")
            daemon = await RealDaemon.start(nil, output: "null", in: folder, arguments)
            client = daemon.connect()
            #expect(count() == before, "\(words)")
            for _ in files {
                client.call("nextTrack")
                takePictures(client)
            }
            #expect(!client.isBroken && daemon.stop() == 0, "\(words)")
        }
    }
}
