import ControlProtocol
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Loudness of files without tags, by the table that the library writes.
    @Suite(.timeLimit(.minutes(5))) struct MeasuredLoudnessTests {
        private static let count = 9_973
        private static let down = LoudnessTags(trackGain: -6.0206, trackPeak: 0.5, albumGain: -12.0412, albumPeak: 0.5)

        /// Loudness of a played item, as published: `-6.02 track`, or nothing.
        private static func words(_ state: JSONValue) -> String {
            guard let gain = state["loudness"]?["gain"]?.doubleValue else { return "" }
            return "\(gain) \(state["loudness"]?["basis"]?.stringValue ?? "-")"
        }

        /// Plays `play`, a file or a list of them, from a folder that `make` fills with them and with their table; the samples,
        /// and the published loudness of each item.
        private static func render(
            _ mode: JSONValue, _ settings: String = "", _ make: (TemporaryFolder) throws -> [JSONValue]
        ) async throws -> (samples: [Int16], words: [String]) {
            let folder = TemporaryFolder()
            folder.folder("state")
            let items = try make(folder)
            let conf = folder.file("conf", "[playback]\n\(settings)\n")
            let daemon = await RealDaemon.start(
                nil, output: "file:" + folder.path("out.wav"), in: folder, readsTitles: false, ["--config", conf])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("loudness.set", ["mode": mode])
            client.call("queue.add", ["items": .array(items), "play": true])
            var found: [(id: Int64?, words: String)] = []
            while !client.isBroken {
                let state = client.event()
                if state.words == "stop ended" { break }
                guard state.playing == "playing", (state["pending"] ?? .null) == .null else { continue }
                if found.last?.id == state.itemID, !found.isEmpty { found.removeLast() }
                found.append((state.itemID, words(state)))
            }
            #expect(daemon.stop() == 0)
            return (writtenSamples(folder.path("out.wav")), found.map(\.words))
        }

        /// Factors of the items' samples, which are parts of one code; nil: the samples are unchanged.
        private static func factors(_ samples: [Int16], _ items: Int) throws -> [Double?] {
            try #require(samples.count == items * count * 2)
            return (0..<items).map { place in
                let part = samples[(place * count * 2)..<((place + 1) * count * 2)]
                let played = PositionCode.int16(from: place * count, count: count)
                if part.elementsEqual(played) { return nil }
                let found = LoudnessTests.factor(part, played)
                // Half a step of rounding and less than one of dither.
                #expect(found.worst < 1.6, "item \(place)")
                return found.mean
            }
        }

        /// A file with the next part of the code.
        private static func file(_ folder: TemporaryFolder, _ place: Int, _ comments: [String] = []) -> JSONValue {
            LoudnessTests.file(folder, "\(place).flac", from: place * count, count: count, comments)
        }

        private static func isNear(_ found: [Double?], _ expected: [Double?]) -> Bool {
            found.count == expected.count
                && zip(found, expected).allSatisfy { abs(($0 ?? 1) - ($1 ?? 1)) < 0.0005 && ($0 == nil) == ($1 == nil) }
        }

        @Test("a file without tags has its measured gain, one with tags that of its tags, and any other none")
        func gains() async throws {
            let (samples, words) = try await Self.render("track") { folder in
                let files = [
                    Self.file(folder, 0), Self.file(folder, 1),
                    Self.file(folder, 2, ["REPLAYGAIN_TRACK_GAIN=+6.02 dB"]),
                    Self.file(folder, 3), Self.file(folder, 4),
                ]
                // The second is played by a link. The fourth changes after its measurement.
                try #require(symlink("1.flac", folder.path("link.flac")) == 0)
                let loud = LoudnessTags(trackGain: 12, trackPeak: 0.5)
                try Measured.write([("0", Self.down), ("1", loud), ("2", Self.down), ("3", Self.down)], in: folder)
                let times = [timespec(tv_sec: 1, tv_nsec: 1), timespec(tv_sec: 1, tv_nsec: 1)]
                try #require(utimensat(AT_FDCWD, folder.path("3.flac"), times, 0) == 0)
                return [files[0], .string(folder.path("link.flac")), files[2], files[3], files[4]]
            }
            #expect(Self.isNear(try Self.factors(samples, 5), [0.5, 2, 2, nil, nil]))
            #expect(words == ["-6.02 track", "6.02 track", "6.02 track", "", ""])
        }

        @Test("a file that nowplaying-decode decodes has its measured gain", .enabled(if: RealDaemon.hasDecodeProgram))
        func child() async throws {
            let (samples, words) = try await Self.render("track") { folder in
                _ = Self.file(folder, 0)
                let (source, coded) = (folder.path("0.flac"), folder.path("0.m4a"))
                let arguments = ["-v", "error", "-i", source, "-c:a", "alac", coded]
                try #require(AudioMaterial.run("ffmpeg", arguments) == 0)
                try Measured.write([("0", Self.down)], in: folder, suffix: "m4a")
                return [.string(coded)]
            }
            #expect(Self.isNear(try Self.factors(samples, 1), [0.5]))
            #expect(words == ["-6.02 track"])
        }

        @Test("with loudness-source = measured, a measured gain counts more than tags") func measuredFirst()
            async throws
        {
            let (samples, words) = try await Self.render("album", "loudness-source = measured") { folder in
                let comments = ["REPLAYGAIN_TRACK_GAIN=+6.02 dB"]
                let files = (0..<3).map { Self.file(folder, $0, $0 == 2 ? [] : comments) }
                try Measured.write([("0", Self.down), ("2", LoudnessTags(trackGain: 6.0206))], in: folder)
                return files
            }
            #expect(Self.isNear(try Self.factors(samples, 3), [0.25, 2, 2]))
            #expect(words == ["-12.04 album", "6.02 track", "6.02 track"])
        }

        @Test("auto takes a measured album for one while it plays in order") func albums() async throws {
            let order = [("a", 1), ("a", 2), ("a", 4), ("b", 5), ("b", 6), ("c", 7)]
            let (samples, words) = try await Self.render("auto") { folder in
                let files = order.enumerated().map { place, track in
                    Self.file(folder, place, ["ALBUM=\(track.0)", "TRACKNUMBER=\(track.1)"])
                }
                try Measured.write(order.indices.map { ("\($0)", Self.down) }, in: folder)
                return files
            }
            #expect(Self.isNear(try Self.factors(samples, 6), [0.25, 0.25, 0.5, 0.25, 0.25, 0.5]))
            let (album, track) = ("-12.04 album", "-6.02 track")
            #expect(words == [album, album, track, album, album, track])
        }

        @Test("the parts of a measured file have its gain as their album") func parts() async throws {
            let (samples, words) = try await Self.render("auto") { folder in
                _ = Self.file(folder, 0)
                try Measured.write([("0", Self.down)], in: folder)
                let tracks = (1...2).map { "TRACK \($0) AUDIO\nINDEX 01 00:00:0\($0 == 1 ? 0 : 8)\n" }.joined()
                return [.string(folder.file("a.cue", "TITLE Album\nFILE \"0.flac\" WAVE\n" + tracks))]
            }
            #expect(Self.isNear(try Self.factors(samples, 1), [0.5]))
            #expect(words == ["-6.02 album", "-6.02 album"])
        }

        @Test("a link of an Ogg file without tags has the measured gain, a link with tags its own") func links()
            async throws
        {
            let (samples, words) = try await Self.render("track") { folder in
                var bytes: [UInt8] = []
                for (place, tag) in ["TITLE=x", "REPLAYGAIN_TRACK_GAIN=+6.02 dB", "TITLE=y"].enumerated() {
                    _ = Self.file(folder, place)
                    let words = ["--silent", "--force", "--ogg", "--serial-number=\(place)", "-T", tag, "-o"]
                    let flac = folder.path("\(place).flac")
                    try #require(AudioMaterial.run("flac", words + [folder.path("a.oga"), flac]) == 0)
                    bytes += folder.read("a.oga")
                }
                let chain = folder.write(bytes, "chain.flac")
                try Measured.write([("chain", Self.down)], in: folder)
                return [.string(chain)]
            }
            #expect(Self.isNear(try Self.factors(samples, 3), [0.5, 2, 0.5]))
            #expect(words.last == "-6.02 track")
        }

        // MARK: Tables that change, and damaged ones

        /// Plays the files 0 and 1 of a folder, the second after `change`; the loudness of each.
        private static func played(
            _ folder: TemporaryFolder, _ change: () throws -> Void = {}
        ) async throws -> [String] {
            let daemon = await RealDaemon.start(nil, output: "null", in: folder, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("loudness.set", ["mode": "track"])
            let files = (0...1).map { JSONValue.string(folder.silence("\($0).wav", seconds: 120)) }
            try Measured.write([("0", Self.down), ("1", Self.down)], in: folder, suffix: "wav", mayFail: true)
            client.call("queue.add", ["items": .array(files), "play": true])
            let first = client.event("play")
            try change()
            client.call("nextTrack")
            let second = client.event("track")
            #expect(first.playing == "playing" && second.playing == "playing")
            #expect(daemon.stop() == 0)
            return [words(first), words(second)]
        }

        @Test("an item that begins after a change of the table has its values") func newTable() async throws {
            let folder = TemporaryFolder()
            let found = try await Self.played(folder) {
                let new = LoudnessTags(trackGain: -3)
                try Measured.write([("0", new), ("1", new)], in: folder, suffix: "wav")
            }
            #expect(found == ["-6.02 track", "-3.0 track"])
        }

        @Test("no table and no damaged one delays or changes an item", arguments: 0..<7) func hostile(kind: Int)
            async throws
        {
            let folder = TemporaryFolder()
            let state = folder.folder("state")
            let path = state + "/loudness"
            switch kind {
            case 0: folder.folder("state/loudness/inside")
            case 1: try #require(mkfifo(path, 0o600) == 0 && mkdir(path + ".new", 0o700) == 0)
            case 2: try #require(symlink("/dev/zero", path) == 0 && mkdir(path + ".new", 0o700) == 0)
            default: break
            }
            let found = try await Self.played(folder) {
                switch kind {
                case 3: _ = folder.write([], "state/loudness")
                case 4: _ = folder.write((0..<4096).map { UInt8(truncatingIfNeeded: $0 * 7) }, "state/loudness")
                case 5: try #require(unlink(path) == 0)
                case 6: try #require(truncate(path, 100) == 0)
                default: break
                }
            }
            #expect(found == [kind < 3 ? "" : "-6.02 track", ""])
        }
    }
}

/// Tables of measured loudness of a test's daemon.
enum Measured {
    /// Writes the table of these files of a folder. `mayFail`: the table's place may be taken.
    static func write(
        _ entries: [(name: String, values: LoudnessTags)], in folder: TemporaryFolder, suffix: String = "flac",
        mayFail: Bool = false
    ) throws {
        let table = try entries.map { entry in
            var status = stat()
            try #require(stat(folder.path("\(entry.name).\(suffix)"), &status) == 0)
            return (try #require(LoudnessKey(status)), entry.values)
        }
        let writer = LoudnessTableWriter(LoudnessTable.path(in: folder.path("state")))
        do { try writer.replace(with: table) } catch { if !mayFail { throw error } }
    }
}
