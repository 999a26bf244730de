import ControlProtocol
import Glibc
import TestSupport
import Testing

/// A user's library that no setting names folders for, and folders of one name.
@Suite(.timeLimit(.minutes(5))) struct FolderDefaultTests {
    private func roots(_ client: RawClient) throws -> [[String?]] {
        (try client.result("library.status")["roots"]?.arrayValue ?? []).map { root in
            ["name", "path", "mode"].map { root[$0]?.stringValue }
        }
    }

    @Test("a user without a music folder has a missing one, which is found as soon as it is made")
    func noMusicFolder() async throws {
        let folder = TemporaryFolder()
        let library = await RealLibrary.start(in: folder, "")
        let client = try library.connect()
        let path = folder.path("Music")
        #expect(becomes { (try? roots(client)) == [["Music", path, "missing"]] })
        folder.folder("Music")
        _ = folder.write(ScanHouse.flac("One"), "Music/1.flac")
        #expect(becomes { (try? client.result("library.status"))?["tracks"] == 1 })
        #expect(becomes { (try? roots(client)) == [["Music", path, "watched"]] })
        #expect(library.stop() == 0)
    }

    @Test("a user who has no music folder by choice has an empty library, until a reload names one")
    func noFolder() async throws {
        let folder = TemporaryFolder()
        folder.file("user-dirs.dirs", "XDG_MUSIC_DIR=\"$HOME/\"\n")
        let library = await RealLibrary.start(in: folder, "")
        let client = try library.connect()
        #expect(try roots(client).isEmpty)
        #expect(becomes { (try? client.result("library.status"))?["lastScan"]?["files"] == 0 })
        #expect(try client.result("library.update")["started"] == true)
        #expect(try client.result("library.query")["rows"]?.arrayValue?.isEmpty == true)
        let music = folder.folder("elsewhere")
        _ = folder.write(ScanHouse.flac("One"), "elsewhere/1.flac")
        _ = RealLibrary.command(folder, "[library]\nfolders = \(music)\n")
        library.process.signal(SIGHUP)
        #expect(becomes { (try? client.result("library.status"))?["tracks"] == 1 })
        #expect(library.stop() == 0)
    }

    @Test("tracks in folders of one name keep their places and numbers over restarts, in any order of the settings")
    func sameNames() async throws {
        let folder = TemporaryFolder()
        let paths = ["one/Music", "two/Music", "three/Music"].map { name in
            let path = folder.folder(name)
            _ = folder.write(ScanHouse.flac(name), name + "/1.flac")
            return path
        }
        var known: [[String?]] = []
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let setting = order.map { paths[$0] }.joined(separator: "\n ")
            let library = await RealLibrary.start(in: folder, "[library]\nfolders = \(setting)\n")
            let client = try library.connect()
            #expect(becomes { (try? roots(client))?.map { $0[2] } == ["watched", "watched", "watched"] })
            #expect(becomes { (try? client.result("library.status"))?["scan"] == .null })
            let rows = try client.result("library.query", ["sort": "uri", "fields": ["path", "title", "added"]])
            let found = (rows["rows"]?.arrayValue ?? []).map { row in
                [row["path"]?.stringValue, row["title"]?.stringValue, row["added"].map { JSONWriter.text($0) }]
            }
            #expect(Set(found.map { $0[0] }) == ["Music/1.flac", "Music (2)/1.flac", "Music (3)/1.flac"])
            if known.isEmpty { known = found }
            #expect(found == known, "\(order)")
            #expect(try Set(roots(client).map { $0[1] }) == Set(paths))
            #expect(library.stop() == 0)
        }
    }
}
