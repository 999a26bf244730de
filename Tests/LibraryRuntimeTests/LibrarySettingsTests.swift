import ArtworkLookup
import ConfigurationFiles
import Foundation
import Glibc
import LibraryRuntime
import LinuxSystem
import Testing

/// Settings of the library.
@Suite struct LibrarySettingsTests {
    private static func settings(_ text: String) throws -> LibrarySettings {
        try LibrarySettings().applying(Array(text.utf8), named: "f")
    }

    @Test func allOfThem() throws {
        let settings = try Self.settings(
            """
            [daemon]
            socket = /other
            [access]
            media-roots = /srv/music
              /mnt
            control-group = audio
            read-group = 17
            output-role = admin
            [library]
            folders = /a b
            folders = /c
            socket = /run/l.sock
            state-directory = /var/l
            scan-at = 4:30
            scan-interval = 600
            [artwork]
            names = Scan , booklet
            animated = off
            animated-square = Loop
            animated-tall = tall
            placeholder = /p.png
            cache-size = 7
            [mqtt]
            broker = x
            """)
        var wanted = LibrarySettings()
        wanted.mediaRoots = ["/srv/music", "/mnt"]
        wanted.folders = ["/a b", "/c"]
        (wanted.controlGroup, wanted.readGroup) = ("audio", "17")
        (wanted.socket, wanted.stateDirectory, wanted.scanInterval) = ("/run/l.sock", "/var/l", 600)
        wanted.scanAt = TimeOfDay("04:30")
        wanted.daemonSocket = "/other"
        wanted.artwork.names = ["scan", "booklet"]
        wanted.artwork.isAnimated = false
        wanted.artwork.films = ArtworkSearch.FilmNames(square: "loop", tall: "tall")
        wanted.artwork.placeholder = "/p.png"
        wanted.artworkCacheSize = 7
        #expect(settings == wanted)
    }

    /// The sample is in order with all of it switched on.
    @Test func theSampleIsInOrder() throws {
        let path = #filePath.components(separatedBy: "/Tests/")[0] + "/etc/nowplaying-library.conf"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let used = lines.map { $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0 }.joined(separator: "\n")
        let settings = try LibrarySettings().applying(Array(used.utf8), named: "sample")
        #expect(settings.folders == ["/srv/music"] && settings.scanAt == TimeOfDay("04:30"))
        #expect(settings.socket == "/run/nowplayingd/library.sock" && settings.stateDirectory != nil)
    }

    @Test func aLaterFileReplacesLists() throws {
        let settings = try Self.settings("[library]\nfolders = /a\nfolders = /b\n")
            .applying(Array("[library]\nfolders = /c\n".utf8), named: "g")
        #expect(settings.folders == ["/c"])
    }

    @Test(arguments: [
        ("folders = music", "invalid value “music” for “folders” in [library] (expected absolute paths"),
        ("folder = /a", "unknown setting “folder” in [library]; did you mean “folders”?"),
        ("scan-at = 24:00", "expected a time of day"), ("scan-interval = 0", "expected seconds from 60"),
        ("scan-interval = nan", "expected seconds from 60"), ("socket = x", "expected an absolute path"),
    ])
    func faults(_ line: String, _ words: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try Self.settings("[library]\n\(line)\n") }
        #expect(error?.messages.count == 1 && error?.messages[0].contains(words) == true, "\(error as Any)")
        #expect(error?.messages[0].hasPrefix("f:2: ") == true)
    }

    @Test(arguments: ["", "4", "04:3", "4:300", "24:00", "12:60", "-1:00", "+1:00", "1: 0", "١٢:00", "12:00:00"])
    func noTimesOfDay(_ text: String) { #expect(TimeOfDay(text) == nil) }

    @Test func theNextTimeOfDay() throws {
        let time = try #require(TimeOfDay("04:30"))
        var now = 1_800_000_000
        for _ in 0..<800 {
            let next = time.next(after: now)
            #expect(next > now && next - now <= 25 * 3600)
            var (instant, local) = (next, tm())
            localtime_r(&instant, &local)
            #expect(local.tm_hour == 4 && local.tm_min == 30 && local.tm_sec == 0)
            now = next
        }
    }

    @Test(
        arguments: [
            ([], ["/a/music", "/b/music", "/c/music"], ["music", "music (2)", "music (3)"]),
            ([("/b/music", "music")], ["/a/music", "/b/music"], ["music (2)", "music"]),
            ([("/x/music", "music"), ("/b/music", "music (2)")], ["/a/music", "/b/music"], ["music", "music (2)"]),
            ([("/a/music", "music (2)")], ["/a/music"], ["music (2)"]),
            ([], ["/a/music/", "/a//music", "/a/./music"], ["music"]),
            ([], ["/a/music", "/a/music/jazz", "/a/musical"], ["music", "musical"]),
            ([], ["/"], ["root"]), ([], ["/", "/srv"], ["root"]), ([], [], []),
        ] as [([(String, String)], [String], [String])])
    func names(_ kept: [(String, String)], _ paths: [String], _ names: [String]) throws {
        let before = kept.map { RootNames.Root(path: FilePath($0.0.utf8)!, name: Array($0.1.utf8)) }
        let roots = RootNames.roots(paths.map { FilePath($0.utf8)! }, kept: before)
        #expect(roots.map { String(decoding: $0.name, as: UTF8.self) } == names)
        // The next run finds the same, in any order.
        let again = RootNames.roots(paths.reversed().map { FilePath($0.utf8)! }, kept: roots)
        #expect(Set(again.map(\.name)) == Set(roots.map(\.name)))
        #expect(again.allSatisfy { roots.contains($0) })
    }
}
