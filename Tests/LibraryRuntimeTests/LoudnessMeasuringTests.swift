import ControlProtocol
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import TestSupport
import Testing
import TrackDatabase

/// The real library measures real files: with kills, disks that are full, files that change and vanish, and beside play.
@Suite(.timeLimit(.minutes(10)), .enabled(if: BuiltProgram.find("nowplaying-decode") != nil))
struct LoudnessMeasuringTests {
    init() { LoopThread.start() }

    private static let settings = "measure-loudness = yes\n"

    /// The rows of the measured tracks.
    private static let kept =
        "SELECT track || ' ' || size || ' ' || modified || ' ' || level || ' ' || mark FROM loudness ORDER BY track"

    /// True if disks can be mounted here.
    private static let mayMount: Bool = {
        let folder = TemporaryFolder()
        guard geteuid() == 0, mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
        return umount2(folder.path, Int32(MNT_DETACH)) == 0
    }()

    /// A file with a tone of this level in dB below full scale, and comments.
    private static func tone(_ level: Double, seconds: Double = 2, _ comments: [String]) -> [UInt8] {
        let factor = pow(10, level / 20) * 32767
        let samples = (0..<Int(seconds * 44_100)).map { Int32((factor * sin(Double($0) * 0.14)).rounded()) }
        var options = FLACOptions()
        options.blocks = [AudioMaterial.vorbisComments(comments.map { Array($0.utf8) })]
        return AudioMaterial(sampleRate: 44_100, channels: 1, bits: 16, samples: samples).flac(options)
    }

    /// Writes a track of an album.
    @discardableResult private static func write(
        _ house: ScanHouse, _ album: String, _ number: Int, level: Double, seconds: Double = 2, more: [String] = []
    ) -> String {
        house.folder.folder("music/\(album)")
        let comments = ["TITLE=\(number)", "ALBUM=\(album)", "ARTIST=Ann", "TRACKNUMBER=\(number)"] + more
        return house.folder.write(tone(level, seconds: seconds, comments), "music/\(album)/\(number).flac")
    }

    private static func loudness(_ status: JSONValue) -> (state: String, done: Int64, total: Int64, failed: Int64) {
        let member = status["loudness"]
        return (
            member?["state"]?.stringValue ?? "", member?["done"]?.integerValue ?? -1,
            member?["total"]?.integerValue ?? -1, member?["failed"]?.integerValue ?? -1
        )
    }

    private static func isComplete(_ house: ScanHouse, _ count: Int64) throws -> Bool {
        try house.reaches(seconds: 120) {
            let found = loudness($0)
            return found.state == "complete" && found.done == count && found.total == count
        }
    }

    /// The member `loudness` of all rows by the places of the tracks.
    private static func rows(_ house: ScanHouse) throws -> [String: JSONValue] {
        let parameters: JSONValue = ["fields": ["path", "loudness"], "limit": 1000]
        let rows = try RawClient(house.socket).result("library.query", parameters)["rows"]?.arrayValue ?? []
        return Dictionary(
            uniqueKeysWithValues: rows.map { ($0["path"]?.stringValue ?? "", $0["loudness"] ?? .null) })
    }

    /// The entry of a file in the table of the daemon.
    private static func told(_ house: ScanHouse, _ path: String) -> LoudnessTags? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let key = LoudnessKey(
            size: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec),
            inode: Int64(bitPattern: UInt64(status.st_ino)))
        return LoudnessTable(stateDirectory: house.folder.path("daemon")).tags(of: key)
    }

    private static func isNear(_ value: Double?, _ expected: Double) -> Bool { abs((value ?? .nan) - expected) < 0.1 }

    @Test("tracks and albums without tags are measured after the scan, once; then the library rests")
    func measures() async throws {
        let house = ScanHouse(settings: Self.settings)
        let first = Self.write(house, "one", 1, level: -12)
        Self.write(house, "one", 2, level: -20)
        Self.write(house, "tagged", 1, level: -6, more: ["REPLAYGAIN_TRACK_GAIN=-7.00 dB"])
        let mixed = Self.write(house, "mixed", 1, level: -9, more: ["REPLAYGAIN_TRACK_GAIN=-7.00 dB"])
        Self.write(house, "mixed", 2, level: -9)
        house.folder.file("music/broken.mp3", "this is no sound")
        await house.start()
        #expect(try Self.isComplete(house, 4))
        let rows = try Self.rows(house)
        // A tone near 1 kHz in one channel is 3 LU below its peak.
        let one = rows["music/one/1.flac"]
        let level = one?["track"]?.doubleValue ?? 0
        #expect(Self.isNear(level, -15) && one?["measured"] == true, "\(rows)")
        #expect(Self.isNear(one?["truePeak"]?.doubleValue, -12))
        #expect(Self.isNear(rows["music/one/2.flac"]?["track"]?.doubleValue, level - 8))
        let album = one?["album"]?.doubleValue ?? 0
        // The mean of both energies.
        #expect(
            Self.isNear(album, level + 10 * log10((1 + pow(10, -0.8)) / 2))
                && rows["music/one/2.flac"]?["album"]?.doubleValue == album)
        #expect(
            rows["music/tagged/1.flac"]?["measured"] == false
                && rows["music/tagged/1.flac"]?["track"]?.doubleValue == -11)
        #expect(rows["music/mixed/1.flac"]?["measured"] == true)
        let told = Self.told(house, first)
        #expect(Self.isNear(told?.trackGain, -18 - level) && Self.isNear(told?.albumGain, -18 - album))
        #expect(abs((told?.trackPeak ?? 0) - 0.2512) < 0.003)
        #expect(Self.told(house, mixed) != nil)
        // Nothing is measured again, also after a restart, and nothing wakes the library.
        let before = SQLiteCheck.rows(house.database, Self.kept)
        let library = try #require(house.library)
        #expect(hasNoRhythm { library.contextSwitches })
        #expect(house.end() == 0)
        await house.start()
        #expect(try Self.isComplete(house, 4))
        #expect(SQLiteCheck.rows(house.database, Self.kept) == before)
        #expect(house.end() == 0)
    }

    @Test("a file that changes, comes or goes is measured again, new, or no longer, and its album with it")
    func changes() async throws {
        let house = ScanHouse(settings: Self.settings)
        let first = Self.write(house, "one", 1, level: -12)
        Self.write(house, "one", 2, level: -12)
        await house.start()
        #expect(try Self.isComplete(house, 2))
        let level = try Self.rows(house)["music/one/1.flac"]?["track"]?.doubleValue ?? 0
        // The same name, another sound.
        Self.write(house, "one", 1, level: -18, seconds: 3)
        #expect(
            try house.reaches(seconds: 60) { status in
                try Self.loudness(status).state == "complete"
                    && Self.isNear(Self.rows(house)["music/one/1.flac"]?["track"]?.doubleValue, level - 6)
            })
        Self.write(house, "one", 3, level: -30)
        #expect(try Self.isComplete(house, 3))
        let three = try Self.rows(house)["music/one/3.flac"]?["album"]?.doubleValue ?? 0
        #expect(unlink(house.folder.path("music/one/2.flac")) == 0)
        #expect(
            try house.reaches(seconds: 60) { status in
                let found = Self.loudness(status)
                return try found.state == "complete" && found.total == 2
                    && (Self.rows(house)["music/one/3.flac"]?["album"]?.doubleValue ?? 0) < three - 1
            })
        #expect(Self.told(house, first).map { Self.isNear($0.trackGain, -18 - (level - 6)) } == true)
        // A moved file keeps its loudness.
        house.folder.folder("music/other")
        #expect(rename(house.folder.path("music/one/3.flac"), house.folder.path("music/other/3.flac")) == 0)
        #expect(
            try house.reaches { _ in
                let rows = try Self.rows(house)
                return rows["music/other/3.flac"]?["measured"] == true && rows.count == 2
            })
        #expect(house.end() == 0)
    }

    @Test("the measuring stops when it is paused, over restarts, and goes on where it was") func pause() async throws {
        let house = ScanHouse(settings: Self.settings)
        for number in 1...30 { Self.write(house, "one", number, level: -12, seconds: 20) }
        await house.start()
        #expect(try house.reaches { Self.loudness($0).done >= 2 })
        let client = try RawClient(house.socket)
        let paused = try client.result("library.loudness", ["paused": true])
        #expect(paused["state"] == "paused")
        let done = try client.result("library.status")["loudness"]?["done"]?.integerValue ?? 0
        #expect(done < 30)
        let library = try #require(house.library)
        #expect(hasNoRhythm { library.contextSwitches })
        #expect(house.end(SIGKILL) == 128 + SIGKILL)
        await house.start()
        #expect(try house.hasScanned())
        #expect(try house.reaches { Self.loudness($0).state == "paused" && Self.loudness($0).total == 30 })
        #expect(try RawClient(house.socket).result("library.loudness", ["paused": false])["state"] != "paused")
        #expect(try Self.isComplete(house, 30))
        #expect(house.end() == 0)
    }

    @Test("settings can forbid it, and a client that would resume it is told so") func forbidden() async throws {
        let house = ScanHouse()
        Self.write(house, "one", 1, level: -12)
        await house.start()
        #expect(try house.reaches { Self.loudness($0).state == "paused" && Self.loudness($0).total == 1 })
        let error = try RawClient(house.socket).error("library.loudness", ["paused": false])
        #expect(error["message"]?.stringValue?.contains("measure-loudness in [library]") == true, "\(error)")
        #expect(Self.loudness(try house.status()).done == 0)
    }

    @Test("kills in the middle: nothing is measured twice, and nothing is lost", arguments: [UInt64(1), 2])
    func kills(seed: UInt64) async throws {
        let house = ScanHouse(settings: Self.settings)
        var random = SeededRandom(seed: seed)
        let count = ScanHouse.isLong ? 300 : 60
        for number in 0..<count {
            Self.write(house, "album \(number % 7)", number, level: -Double(number % 30) - 3, seconds: 4)
        }
        var known: Set<String> = []
        var kills = 0
        for _ in 0..<1000 {
            await house.start()
            let wanted = Int64(known.count + Int.random(in: 1...8, using: &random))
            #expect(try house.reaches(seconds: 120) { Self.loudness($0).done >= min(wanted, Int64(count)) })
            let isComplete = Self.loudness(try house.status()).state == "complete"
            house.end(SIGKILL)
            kills += 1
            // A measured row is never made anew.
            let rows = Set(
                SQLiteCheck.rows(
                    house.database, "SELECT track || ' ' || size || ' ' || modified || ' ' || level FROM loudness"))
            #expect(known.isSubset(of: rows))
            known = rows
            if isComplete { break }
        }
        #expect(kills > 4 && known.count == count)
        await house.start()
        #expect(try Self.isComplete(house, Int64(count)))
        // The albums have the values of all their tracks.
        let rows = try Self.rows(house)
        #expect(rows.values.allSatisfy { $0["album"]?.doubleValue != nil && $0["measured"] == true })
        #expect(
            SQLiteCheck.rows(house.database, "SELECT count(DISTINCT mark) || '|' || count(*) FROM loudness").first
                == "7|\(count)")
        for number in [0, count / 2, count - 1] {
            let told = Self.told(house, house.folder.path("music/album \(number % 7)/\(number).flac"))
            let level = rows["music/album \(number % 7)/\(number).flac"]?["track"]?.doubleValue
            #expect(Self.isNear(told?.trackGain, -18 - (level ?? 0)))
        }
        #expect(house.end() == 0)
        #expect(SQLiteCheck.words(house.database) == ["ok"])
    }

    @Test(
        "a full disk loses no result: it is written when there is room",
        .enabled(if: mayMount, "NOT TESTED: a full disk beside the measuring; it needs root, to mount a disk"))
    func full() async throws {
        let house = ScanHouse(settings: Self.settings)
        for number in 1...12 { Self.write(house, "one", number, level: -12, seconds: 8) }
        let state = house.folder.folder("state")
        #expect(mount("tmpfs", state, "tmpfs", 0, "size=64m") == 0)
        defer { umount2(state, Int32(MNT_DETACH)) }
        await house.start()
        #expect(try house.reaches { Self.loudness($0).done >= 1 })
        // The rest of the disk.
        let filler = open(house.folder.path("state/filler"), O_WRONLY | O_CREAT, 0o600)
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        while Glibc.write(filler, zeros, zeros.count) > 0 {}
        close(filler)
        #expect(try house.reaches { Self.loudness($0).state == "waiting" })
        #expect(house.log.contains("can't keep measured loudness"), "\(house.log)")
        let done = Self.loudness(try house.status()).done
        #expect(done < 12)
        #expect(unlink(house.folder.path("state/filler")) == 0)
        #expect(try house.update())
        #expect(try Self.isComplete(house, 12))
        #expect(house.end() == 0)
        #expect(SQLiteCheck.words(house.database) == ["ok"])
    }

    @Test("without the program it says that it can't, and counts what there is") func withoutProgram() async throws {
        let house = ScanHouse(settings: Self.settings)
        Self.write(house, "one", 1, level: -12)
        // The library alone in a folder has no other program beside it.
        let copy = house.folder.path("nowplaying-library")
        #expect(AudioMaterial.run("cp", [BuiltProgram.path("nowplaying-library"), copy]) == 0)
        #expect(
            AudioMaterial.run("cp", [BuiltProgram.path("nowplaying-tags"), house.folder.path("nowplaying-tags")]) == 0)
        await house.start(["sh", "-c", "shift; exec \"$0\" \"$@\"", copy])
        #expect(try house.reaches { Self.loudness($0).state == "unavailable" && Self.loudness($0).total == 1 })
        let problem = try house.status()["loudness"]?["problem"]?.stringValue ?? ""
        #expect(problem.contains("nowplaying-decode"), "\(problem)")
        #expect(house.end() == 0)
    }

    @Test("a file that cannot be decoded costs itself alone, and is not read again") func broken() async throws {
        let house = ScanHouse(settings: Self.settings)
        Self.write(house, "one", 1, level: -12)
        // A valid head, and frames of zeros.
        let whole = Self.tone(-12, ["TITLE=2", "ALBUM=one", "ARTIST=Ann"])
        let head = whole.count / 40
        _ = house.folder.write(
            Array(whole[..<head]) + [UInt8](repeating: 0, count: whole.count - head), "music/one/2.flac")
        await house.start()
        #expect(try Self.isComplete(house, 2))
        let rows = try Self.rows(house)
        #expect(rows["music/one/1.flac"]?["album"]?.doubleValue != nil, "\(rows)")
        #expect(house.end() == 0)
    }
}
