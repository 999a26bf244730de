import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Files and folders with times that no honest clock shows, in a library that runs.
@Suite struct ScanTimeTests {
    init() { LoopThread.start() }

    /// Seconds of the years 2300 and 1600, and the farthest that a file system keeps.
    private static let far = [10_413_792_000, -11_676_096_000, Int.max, .min]

    private static func setTime(_ path: String, _ seconds: Int) {
        let times = [timespec(tv_sec: seconds, tv_nsec: 1), timespec(tv_sec: seconds, tv_nsec: 1)]
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mtim.tv_sec == seconds)
    }

    @Test("music and playlists of far times are scanned, once each, and the library stays")
    func scanned() async throws {
        let house = ScanHouse()
        for (number, seconds) in Self.far.enumerated() {
            Self.setTime(house.track("music/\(number)/a.flac", "Far \(number)"), seconds)
            Self.setTime(house.folder.file("music/\(number)/list.m3u", "a.flac\n"), seconds)
            Self.setTime(house.folder.path("music/\(number)"), seconds)
        }
        await house.start()
        #expect(try house.hasScanned())
        #expect(try house.tracks().values.sorted() == (0..<4).map { "Far \($0)" })
        #expect(try house.update())
        let last = try house.status()["lastScan"]
        #expect(last?["added"] == 0 && last?["changed"] == 0, "\(String(describing: last))")
        let client = try RawClient(house.socket)
        #expect(try client.call("lists.list")["result"]?["lists"]?.arrayValue?.count == 4)
        let rows = try client.call("library.query", ["fields": ["modified"], "sort": ["modified"]])["result"]?["rows"]
        let modified = (rows?.arrayValue ?? []).map { $0["modified"]?.integerValue ?? 0 }
        #expect(modified == [-9_223_372_036, -9_223_372_036, 9_223_372_036, 9_223_372_036])
        #expect(house.end() == 0)
    }

    @Test("a folder of saved lists with a far time is searched")
    func lists() async throws {
        let house = ScanHouse()
        await house.start()
        let client = try RawClient(house.socket)
        _ = try client.call("lists.save", ["name": "Evening", "uris": []])
        for seconds in Self.far {
            Self.setTime(house.folder.path("state/lists"), seconds)
            let hits = try client.call("library.search", ["text": "evening"])["result"]?["rows"]
            #expect(hits?.arrayValue?.count == 1)
        }
        #expect(house.end() == 0)
    }
}
