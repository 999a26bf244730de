import CSQLite
import Glibc
import LinuxSystem
import MPDProtocol
import TestSupport
import Testing

@testable import MPDBridge

/// The bounds of stickers in docs/security.md, and a disk that makes them wait.
@Suite(.timeLimit(.minutes(5)), .serialized) struct StickerBoundTests {
    private let folder = TemporaryFolder()

    /// The failure of a call; nil: it succeeds.
    private func failure(_ call: () throws(MPDFailure) -> Void) -> MPDFailure? {
        do throws(MPDFailure) { try call() } catch { return error }
        return nil
    }

    @Test("names of 256 bytes, and subjects and values of 4 KiB, are kept; longer ones are refused") func lengths() throws {
        let store = try StickerStore(folder: folder.path)
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        let subject = StickerSubject(type: "Artist", key: text(4096))
        #expect(failure { () throws(MPDFailure) in try store.set(subject, text(256), text(4096)) } == nil)
        #expect(try store.value(subject, text(256)) == text(4096))
        let long = StickerSubject(type: "Artist", key: text(4097))
        for (subject, name, value) in [(subject, 257, 1), (subject, 1, 4097), (long, 1, 1)] {
            let failure = failure { () throws(MPDFailure) in try store.set(subject, text(name), text(value)) }
            #expect(failure?.message == "the sticker is too long: shorten its name, value or subject")
        }
        #expect(try store.names(most: 1 << 20).map(\.name) == [text(256)])
    }

    @Test("a file of 64 MiB takes no more stickers, keeps its own, and takes others in the place of deleted ones")
    func size() throws {
        let store = try StickerStore(folder: folder.path)
        let value = String(repeating: "x", count: 4096)
        func subject(_ number: Int) -> StickerSubject { StickerSubject(type: "Artist", key: "\(number)") }
        var count = 0
        var full: MPDFailure?
        while full == nil, count < 40_000 {
            let number = count
            full = failure { () throws(MPDFailure) in try store.set(subject(number), "n", value) }
            if full == nil { count += 1 }
        }
        #expect(full?.message == "stickers cannot be kept: there are too many; delete some")
        #expect(count > 4000)
        var status = stat()
        stat(folder.path("stickers.db"), &status)
        #expect(status.st_size <= 64 << 20)
        #expect(try store.value(subject(0), "n") == value && store.value(subject(count - 1), "n") == value)
        // An answer has a bound of its own.
        #expect(failure { () throws(MPDFailure) in _ = try store.all("Artist", "n", most: 16 << 20) } == HeldShare.tooMuch)
        for number in 0..<100 { #expect(try store.remove(subject(number), nil)) }
        #expect(failure { () throws(MPDFailure) in try store.set(subject(0), "n", value) } == nil)
    }

    @Test("answers of names and of one subject have the bound of memory") func answers() throws {
        let store = try StickerStore(folder: folder.path)
        let subject = StickerSubject(type: "Artist", key: "a")
        for number in 0..<200 { try store.set(subject, "n\(number)", "v") }
        #expect(try store.values(subject, most: 1 << 20).count == 200)
        #expect(try store.names(most: 1 << 20).count == 200)
        #expect(failure { () throws(MPDFailure) in _ = try store.values(subject, most: 4096) } == HeldShare.tooMuch)
        #expect(failure { () throws(MPDFailure) in _ = try store.names(most: 4096) } == HeldShare.tooMuch)
    }

    @Test("while the disk makes a sticker wait, all other commands are answered") func slowDisk() async throws {
        // Without a library there are no stickers.
        let music = folder.folder("music")
        _ = folder.write(AudioMaterial.noise(frames: 800, sampleRate: 8000, channels: 1, seed: 1).wave(), "music/a.wav")
        let house = await MPDHouse.start(in: folder, music: (music, 1))
        let (one, other) = (try house.client(), try house.client())
        #expect(try one.ask("sticker set Artist a n 1") == ["OK"])
        // Another program writes to the file, and does not end.
        var opened: OpaquePointer?
        let path = folder.path("states/nowplaying-mpd/stickers.db")
        #expect(sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        defer { sqlite3_close_v2(opened) }
        #expect(sqlite3_exec(opened, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        try one.send("sticker set Artist a n 2")
        for line in ["ping", "playlistinfo", "status", "stickertypes"] { #expect(try other.ask(line).last == "OK") }
        var answer = pollfd(fd: one.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&answer, 1, 0) == 0, "the disk was not waited for")
        #expect(sqlite3_exec(opened, "COMMIT", nil, nil, nil) == SQLITE_OK)
        #expect(try one.answer() == ["OK"])
        #expect(try other.ask("sticker get Artist a n") == ["sticker: n=2", "OK"])
    }
}
