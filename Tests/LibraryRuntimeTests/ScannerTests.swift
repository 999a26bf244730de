import Glibc
import LibraryRuntime
import LinuxSystem
import TestSupport
import Testing
import TrackDatabase

/// Scans of real folders with the real reader of tags.
@Suite struct ScannerTests {
    init() { LoopThread.start() }

    @Test("a first scan lists what plays, with its tags or by its name, and the next one reads nothing")
    @PlayerLoop func first() async throws {
        let library = try ScannedFolder()
        library.track("a/1.flac", title: "Eins")
        library.track("a/b/2.FLAC", title: "Zwei")
        library.place.file("music/a/strange.mp3", "no sound")
        library.place.file("music/a/notes.txt")
        library.place.file("music/a/.hidden.flac")
        library.place.file("music/.hidden/x.flac")
        library.place.file("music/empty.ogg", "")
        await library.scan()
        #expect(
            try library.tracks().keys.sorted() == [
                "music/a/1.flac", "music/a/b/2.FLAC", "music/a/strange.mp3", "music/empty.ogg",
            ])
        let one = try #require(try library.track(at: "music/a/1.flac"))
        #expect(one.record.tags[.title] == ["Eins"] && one.record.tags[.artist] == ["Ann"])
        #expect(one.record.format.codec == "FLAC" && one.record.duration != nil && one.record.identity != nil)
        #expect(try library.track(at: "music/a/strange.mp3")?.record.tags == [:])
        let report = library.scanner.report
        #expect(report.roots.map(\.mode) == [.watched] && report.failure == nil)
        #expect(report.lastScan?.added == 4 && report.lastScan?.files == 4 && library.changes > 0)
        // Those without sound are named, and are not read again until they change.
        let reasons = Dictionary(
            uniqueKeysWithValues: try library.reader.faults().map {
                (String(decoding: $0.path.bytes, as: UTF8.self), $0.reason)
            })
        #expect(
            reasons == [
                "music/a/strange.mp3": "no audio format is recognised in it", "music/empty.ogg": "it is empty",
            ])
        #expect(report.lastScan?.faults == 2)
        let version = try library.reader.summary().version
        await library.scan()
        #expect(try library.reader.summary().version == version)
        #expect(library.scanner.report.lastScan?.files == 4 && library.scanner.report.lastScan?.added == 0)
        #expect(library.scanner.report.lastScan?.faults == 0)
        library.track("a/strange.mp3", title: "Drei", seed: 3)
        await library.scan()
        #expect(try library.track(at: "music/a/strange.mp3")?.record.tags[.title] == ["Drei"])
        #expect(try library.reader.faultCount() == 1)
    }

    @Test("folders that lie too deep are named, and are not when they are moved up")
    @PlayerLoop func tooDeep() async throws {
        let library = try ScannedFolder()
        let deep = Array(repeating: "d", count: 127).joined(separator: "/")
        library.track("\(deep)/1.flac", title: "Above")
        library.track("\(deep)/last/2.flac", title: "Just so", seed: 2)
        library.track("\(deep)/last/below/3.flac", title: "Below", seed: 3)
        for _ in 0..<2 {
            await library.scan()
            #expect(
                try library.tracks().keys.sorted() == ["music/\(deep)/1.flac", "music/\(deep)/last/2.flac"])
            let faults = try library.reader.faults()
            #expect(faults.map(\.path) == [TrackPath("music/\(deep)/last/below")])
            #expect(faults.first?.reason.contains("below 128 levels") == true)
        }
        // The second scan does not report it again.
        #expect(library.scanner.report.lastScan?.faults == 0)
        let root = library.place.path("music/")
        try #require(rename(root + deep + "/last/below", root + "up") == 0)
        await library.scan()
        #expect(try library.tracks().keys.contains("music/up/3.flac") && library.reader.faultCount() == 0)
    }

    @Test("files that change, come and go are found by themselves")
    @PlayerLoop func watched() async throws {
        let library = try ScannedFolder()
        library.track("a/1.flac", title: "Eins")
        library.track("a/2.flac", title: "Zwei", seed: 2)
        await library.scan()
        let id = try library.track(at: "music/a/1.flac")?.id
        library.track("a/1.flac", title: "Anders")
        try await library.until { try library.track(at: "music/a/1.flac")?.record.tags[.title] == ["Anders"] }
        #expect(try library.track(at: "music/a/1.flac")?.id == id)
        library.track("new/deep/3.flac", title: "Drei", seed: 3)
        try await library.until { try library.track(at: "music/new/deep/3.flac") != nil }
        // A folder that is new is watched, too.
        library.track("new/deep/4.flac", title: "Vier", seed: 4)
        try await library.until { try library.track(at: "music/new/deep/4.flac") != nil }
        unlink(library.place.path("music/a/2.flac"))
        try await library.until { try library.track(at: "music/a/2.flac")?.isMissing == true }
        #expect(try library.tracks().count == 3)
        await library.rest()
    }

    @Test("a file or a folder that moves keeps its number and its feedback, also across a later scan")
    @PlayerLoop func moves() async throws {
        let library = try ScannedFolder(roots: ["music", "other"])
        for number in 0..<5 { library.track("a/\(number).flac", title: "T\(number)", seed: UInt64(number)) }
        await library.scan()
        let before = try library.tracks()
        try library.writer.setLiked(before["music/a/0.flac"]!)
        #expect(rename(library.place.path("music/a/0.flac"), library.place.path("other/zero.flac")) == 0)
        await library.scan()
        #expect(try library.tracks()["other/zero.flac"] == before["music/a/0.flac"])
        #expect(try library.track(at: "other/zero.flac")?.feedback.liked == true)
        #expect(try library.track(at: "other/zero.flac")?.record.identity != nil)
        #expect(rename(library.place.path("music/a"), library.place.path("music/b")) == 0)
        try await library.until { try library.tracks().keys.filter { $0.hasPrefix("music/b/") }.count == 4 }
        await library.rest()
        for number in 1..<5 {
            #expect(try library.tracks()["music/b/\(number).flac"] == before["music/a/\(number).flac"])
        }
        #expect(try library.tracks().count == 5)
        // First gone, later there again elsewhere: by size, length and tags.
        #expect(rename(library.place.path("music/b/1.flac"), library.place.path("kept.flac")) == 0)
        try await library.until { try library.tracks().count == 4 }
        await library.rest()
        #expect(AudioMaterial.run("cp", [library.place.path("kept.flac"), library.place.path("music/one.flac")]) == 0)
        try await library.until { try library.tracks().count == 5 }
        #expect(try library.tracks()["music/one.flac"] == before["music/a/1.flac"])
    }

    @Test("a root that is away has its tracks missing, and back with it, unread")
    @PlayerLoop func roots() async throws {
        let library = try ScannedFolder(roots: ["music", "other"])
        for number in 0..<4 { library.track("a/\(number).flac", seed: UInt64(number)) }
        library.place.file("music/b/none.flac", "no sound")
        library.place.file("other/x.mp3")
        await library.scan()
        let (before, faults) = (try library.tracks(), try library.reader.faultCount())
        #expect(before.count == 6 && faults == 2)
        #expect(rename(library.place.path("music"), library.place.path("away")) == 0)
        try await library.until { try library.tracks().count == 1 }
        await library.rest()
        guard case .missing = library.scanner.report.roots[0].mode else {
            Issue.record("\(library.scanner.report)")
            return
        }
        // By itself, and also after a scan while it is away.
        for scans in [false, true] {
            if scans { await library.scan() }
            #expect(rename(library.place.path("away"), library.place.path("music")) == 0)
            try await library.until { try library.tracks() == before }
            await library.rest()
            #expect(library.scanner.report.lastScan?.changed == 0 && library.scanner.report.lastScan?.added == 0)
            #expect(try library.reader.faultCount() == faults)
            if scans { continue }
            #expect(rename(library.place.path("music"), library.place.path("away")) == 0)
            try await library.until { try library.tracks().count == 1 }
            await library.rest()
        }
        #expect(library.scanner.report.roots.map(\.mode) == [.watched, .watched])
        // It is watched again.
        library.track("a/new.flac", seed: 9)
        try await library.until { try library.track(at: "music/a/new.flac") != nil }
    }

    @Test("roots that are not there are found as soon as they are made, with the folders above them")
    @PlayerLoop func arrivals() async throws {
        let library = try ScannedFolder(roots: ["music", "far/away/one", "far/away/two"])
        library.track("a/1.flac")
        #expect(AudioMaterial.run("rm", ["-r", library.place.path("far")]) == 0)
        await library.scan()
        #expect(try library.tracks().count == 1)
        let made = [library.place.path("music/a/1.flac"), library.place.path("far/away/two/b/2.flac")]
        library.place.folder("far/away/two/b")
        #expect(AudioMaterial.run("cp", made) == 0)
        try await library.until { try library.track(at: "two/b/2.flac") != nil }
        library.place.folder("far/away/one/c")
        #expect(AudioMaterial.run("cp", [made[0], library.place.path("far/away/one/c/3.flac")]) == 0)
        try await library.until { try library.track(at: "one/c/3.flac") != nil }
        await library.rest()
        #expect(library.scanner.report.roots.map(\.mode) == [.watched, .watched, .watched])
        #expect(try library.tracks().count == 3)
    }

    @Test("links are not followed: inside they are there already, and outside they are reported")
    @PlayerLoop func links() async throws {
        let library = try ScannedFolder()
        library.track("a/1.flac")
        library.place.file("outside/2.flac")
        for (target, link) in [
            ("..", "a/up"), ("../a/1.flac", "a/again.flac"), (library.place.path("outside"), "out"),
            (library.place.path("outside/2.flac"), "two.flac"), ("/etc/passwd", "passwd"), ("nothing", "dangling.flac"),
            ("circle.flac", "circle.flac"),
        ] { #expect(symlink(target, library.place.path("music/" + link)) == 0) }
        await library.scan()
        #expect(try library.tracks().keys.sorted() == ["music/a/1.flac"])
        let faults = try library.reader.faults()
        #expect(Set(faults.map { String(decoding: $0.path.bytes, as: UTF8.self) }) == ["music/out", "music/two.flac"])
        #expect(faults.allSatisfy { $0.reason.contains(library.place.path("outside")) })
        let version = try library.reader.summary().version
        await library.scan()
        #expect(try library.reader.summary().version == version)
        unlink(library.place.path("music/out"))
        await library.scan()
        #expect(try library.reader.faultCount() == 1)
    }

    @Test("names are bytes, and thousands of files in one folder are listed once each")
    @PlayerLoop func names() async throws {
        let library = try ScannedFolder()
        let folder = library.place.path("music")
        let wanted = getenv("NOWPLAYING_MANY_FILES").flatMap { Int(String(cString: $0)) }
        let count = wanted ?? (ScanHouse.isLong ? 200_000 : 5000)
        var first = library.place.write(ScanHouse.flac("One"), "music/first.mp3")
        for number in 1..<count {
            // Most file systems have no room for 65,000 names of one file.
            if number % 30_000 == 0 {
                first = library.place.write(ScanHouse.flac("One"), "music/\(number).mp3")
            } else {
                try #require(link(first, "\(folder)/\(number).mp3") == 0)
            }
        }
        let foreign: [UInt8] = Array("\(folder)/".utf8) + [0xFF, 0xFE, 0x2E] + Array("mp3".utf8)
        foreign.withUnsafeBytes { bytes in
            let path = UnsafeBufferPointer(rebasing: bytes.bindMemory(to: CChar.self)[...])
            #expect(link(first, Array(path) + [0]) == 0)
        }
        await library.scan()
        #expect(try library.reader.summary().tracks == Int64(count + 1))
        let name: [UInt8] = [0xFF, 0xFE, 0x2E] + Array("mp3".utf8)
        #expect(try library.reader.track(at: TrackPath(folder: Array("music".utf8), name: name)) != nil)
        let version = try library.reader.summary().version
        await library.scan()
        #expect(try library.reader.summary().version == version)
    }

    @Test("a file that kills the reader of tags is listed by name, reported, and not tried again until it changes")
    @PlayerLoop func killer() async throws {
        let program = try #require(ScannedFolder.built)
        let place = TemporaryFolder()
        let script = """
            #!/usr/bin/python3
            import array, os, socket
            s = socket.socket(fileno=3)
            while True:
                data, control, flags, address = s.recvmsg(8, socket.CMSG_SPACE(64))
                files = array.array("i")
                for level, kind, content in control: files.frombytes(content[:len(content) - len(content) % 4])
                for i, f in enumerate(files):
                    os.lseek(f, 1, 0)
                    if os.pread(f, 4, 0) == b"kill":
                        open("\(place.path)/deaths", "a").write("x")
                        os.kill(os.getpid(), 11)
                    os.close(f)
                    s.sendall(bytes([33, 1, i, 0, 1, 0, 0, 0, 2]))
            """
        let path = place.write(Array(script.utf8), "reader")
        chmod(path, 0o700)
        let library = try ScannedFolder(program: path)
        for number in 0..<40 { library.place.file("music/\(number).mp3") }
        for number in [3, 17, 18] { library.place.file("music/\(number).mp3", "kill") }
        await library.scan()
        #expect(try library.tracks().count == 40)
        let faults = try library.reader.faults()
        #expect(Set(faults.map { String(decoding: $0.path.name, as: UTF8.self) }) == ["3.mp3", "17.mp3", "18.mp3"])
        #expect(place.read("deaths").count == 6 && library.scanner.report.lastScan?.faults == 3)
        await library.scan()
        #expect(place.read("deaths").count == 6)
        library.place.file("music/3.mp3", "sound")
        await library.scan()
        #expect(place.read("deaths").count == 6)
        #expect(try library.reader.faultCount() == 2)
        withExtendedLifetime(program) {}
    }

    @Test("files that change while they are read end up as they are")
    @PlayerLoop func changing() async throws {
        let library = try ScannedFolder()
        for number in 0..<50 { library.track("\(number).flac", title: "old", seed: UInt64(number)) }
        library.scanner.begin()
        for round in 0..<5 {
            for number in 0..<50 { library.track("\(number).flac", title: "new \(round)", seed: UInt64(number)) }
            await LoopThread.turns(10)
        }
        try await library.until {
            try (0..<50).allSatisfy { try library.track(at: "music/\($0).flac")?.record.tags[.title] == ["new 4"] }
        }
        await library.rest()
        #expect(try library.tracks().count == 50)
    }
}

extension LibraryWriter {
    /// Marks a track as liked, and waits for it.
    fileprivate nonisolated func setLiked(_ id: Int64) throws {
        var feedback = TrackFeedback()
        feedback.liked = true
        try write { [feedback] batch throws(TrackDatabaseError) in try batch.setFeedback(feedback, of: id) }
    }
}
