import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Music that changes while a library is killed, with a model of it.
private final class ChangingMusic {
    private let house: ScanHouse
    private var numbers: SeededRandom
    private var made = 0
    /// Titles by the paths below the folder of the library.
    private(set) var files: [String: String] = [:]

    init(_ house: ScanHouse, seed: UInt64) {
        self.house = house
        numbers = SeededRandom(seed: seed)
        for _ in 0..<300 { add() }
    }

    func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &numbers) }

    private func place() -> String { "\(chance(12))/\(chance(4))/\(made).flac" }

    private func add() {
        made += 1
        let (name, title) = (place(), "Title \(made) of this music")
        house.track("music/\(name)", title)
        files[name] = title
    }

    private func anyone() -> String? { files.keys.sorted().randomElement(using: &numbers) }

    /// Adds, removes, changes and moves some files, and sometimes a folder.
    func change() {
        for _ in 0..<chance(30) {
            guard let name = anyone(), let title = files[name] else { return add() }
            switch chance(8) {
            case 0...2: add()
            case 3:
                unlink(house.folder.path("music/\(name)"))
                files[name] = nil
            case 4:
                made += 1
                files[name] = "Changed \(made)"
                house.track("music/\(name)", "Changed \(made)")
            default:
                made += 1
                let target = place()
                house.folder.folder("music/" + target[..<(target.lastIndex(of: "/") ?? target.startIndex)])
                rename(house.folder.path("music/\(name)"), house.folder.path("music/\(target)"))
                files[name] = nil
                files[target] = title
            }
        }
        if chance(3) == 0 { moveFolder() }
    }

    private func moveFolder() {
        made += 1
        let (old, new) = ("\(chance(12))/", "moved/\(made)/")
        house.folder.folder("music/moved")
        let result = rename(house.folder.path("music/\(old)"), house.folder.path("music/\(new)"))
        guard result == 0 else { return }
        for (name, title) in files where name.hasPrefix(old) {
            files[name] = nil
            files[new + name.dropFirst(old.count)] = title
        }
    }
}

/// The library, killed during scans.
@Suite(.timeLimit(.minutes(20))) struct ScanKillTests {
    init() { LoopThread.start() }

    /// Checks that the library has the files of the music, each once, and that each has kept its number since it was known.
    private func look(
        _ house: ScanHouse, _ music: ChangingMusic, _ known: inout [String: Int64], _ round: Int, _ seed: UInt64
    ) async throws {
        await house.start()
        #expect(try house.hasScanned(), "round \(round)")
        let tracks = try house.tracks()
        let wanted = Dictionary(uniqueKeysWithValues: music.files.map { ("music/" + $0, $1) })
        #expect(tracks == wanted, "round \(round): \(tracks.count) and \(wanted.count) tracks")
        #expect(try house.status()["tracks"]?.integerValue == Int64(wanted.count))
        #expect(try house.status()["faultCount"] == 0)
        var found: [String: Int64] = [:]
        for (place, number) in try house.numbers() { found[tracks[place] ?? ""] = number }
        for (title, number) in known where found[title] != nil {
            #expect(found[title] == number, "round \(round), seed \(seed): “\(title)” is another track")
        }
        known = found
    }

    @Test("killed at any instant of a scan, the library has each file once, and a moved one stays the same track")
    func kills() async throws {
        let house = ScanHouse()
        let seed = ScanHouse.isLong ? UInt64.random(in: 0..<1_000_000) : 4711
        let music = ChangingMusic(house, seed: seed)
        var known: [String: Int64] = [:]
        let rounds = ScanHouse.isLong ? 500 : 16
        let begin = EventLoop.now
        for round in 1...rounds {
            await house.start(waits: false)
            // Some die before they begin, some in the middle, some when they rest.
            usleep(UInt32(music.chance(4) == 0 ? music.chance(400_000) : 30_000 + music.chance(150_000)))
            if music.chance(2) == 0 { music.change() }
            if music.chance(10) == 0 {
                _ = house.end(SIGTERM)
            } else {
                #expect(house.end(SIGKILL) == 128 + SIGKILL)
            }
            if access(house.database, F_OK) == 0 {
                #expect(SQLiteCheck.words(house.database) == ["ok"], "round \(round), seed \(seed)")
            }
            music.change()
            guard round % 8 == 0 else { continue }
            try await look(house, music, &known, round, seed)
            #expect(house.end() == 0)
        }
        // A scan without a kill finds the same.
        try await look(house, music, &known, rounds + 1, seed)
        let other = ScanHouse([house.folder.path("music")])
        await other.start()
        #expect(try other.hasScanned())
        #expect(try other.tracks() == house.tracks())
        if getenv("NOWPLAYING_FIGURES") != nil { print("\(rounds) kills: \(EventLoop.now.seconds(since: begin)) s") }
    }

    /// A scan that sees a file at both places knows as much: files are moved while it walks.
    @Test("a file seen at its new place before its old one was empty is the same track", arguments: [false, true])
    func seenTwice(isKilled: Bool) async throws {
        let house = ScanHouse()
        for number in 0..<5 { house.track("music/old/\(number).flac", "Title \(number) of this music") }
        await house.start()
        #expect(try house.hasScanned())
        let known = try house.numbers()
        let client = try RawClient(house.socket)
        let (old, new) = (house.folder.path("music/old"), house.folder.path("music/new"))
        #expect(AudioMaterial.run("cp", ["-r", old, new]) == 0)
        #expect(try house.reaches { _ in try client.call("library.count")["result"]?["tracks"] == 10 })
        // Until the scan has ended that found the new places.
        #expect(try house.reaches { $0["scan"]?["phase"] == nil })
        if isKilled { #expect(house.end(SIGKILL) == 128 + SIGKILL) }
        #expect(AudioMaterial.run("rm", ["-r", old]) == 0)
        if isKilled { await house.start() }
        #expect(try house.reaches { $0["tracks"] == 5 && $0["scan"]?["phase"] == nil })
        let found = try house.numbers()
        #expect(found.count == 5)
        for (place, number) in known { #expect(found["music/new/" + place.dropFirst(10)] == number) }
    }

    @Test("a file that a killed scan saw on its way is the same track when it moves again")
    func seenOnItsWay() async throws {
        let house = ScanHouse()
        house.track("music/a/1.flac", "One of this music")
        for name in ["b", "c", "d"] { house.folder.folder("music/\(name)") }
        func path(_ folder: String) -> String { house.folder.path("music/\(folder)/1.flac") }
        await house.start()
        #expect(try house.hasScanned())
        let known = try house.numbers()["music/a/1.flac"]
        // One file at two places, as a scan sees it that looks at both while it moves.
        #expect(link(path("a"), path("b")) == 0)
        #expect(try house.reaches { $0["tracks"] == 2 && $0["scan"]?["phase"] == nil })
        #expect(house.end(SIGKILL) == 128 + SIGKILL)
        #expect(rename(path("a"), path("c")) == 0 && unlink(path("b")) == 0)
        await house.start()
        #expect(try house.hasScanned())
        #expect(try house.numbers() == ["music/c/1.flac": known])
        #expect(rename(path("c"), path("d")) == 0)
        #expect(try house.reaches { _ in try house.tracks().keys.sorted() == ["music/d/1.flac"] })
        #expect(try house.reaches { $0["scan"]?["phase"] == nil })
        #expect(try house.numbers() == ["music/d/1.flac": known])
    }

    @Test("a missing file that returns elsewhere is the same track, however many of its size are missing")
    func crowd() async throws {
        let house = ScanHouse()
        let numbers = 100..<260
        for number in numbers { house.track("music/old/\(number).flac", "Title \(number) of this music") }
        house.track("music/kept.flac", "Kept")
        await house.start()
        #expect(try house.hasScanned())
        let known = try house.numbers()
        let away = house.folder.folder("away")
        for number in numbers {
            #expect(rename(house.folder.path("music/old/\(number).flac"), "\(away)/\(number).flac") == 0)
        }
        #expect(try house.reaches { $0["tracks"] == 1 && $0["scan"]?["phase"] == nil })
        house.folder.folder("music/new")
        for number in numbers.reversed() {
            #expect(rename("\(away)/\(number).flac", house.folder.path("music/new/\(number).flac")) == 0)
        }
        let all = JSONValue.integer(Int64(numbers.count + 1))
        #expect(try house.reaches { $0["tracks"] == all && $0["scan"]?["phase"] == nil })
        let found = try house.numbers()
        for number in numbers { #expect(found["music/new/\(number).flac"] == known["music/old/\(number).flac"]) }
    }
}
