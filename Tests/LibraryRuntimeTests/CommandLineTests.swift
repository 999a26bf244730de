import ControlProtocol
import Glibc
import TestSupport
import Testing
import TrackDatabase

/// The words of nowplayingctl for the library, with the real program, library and daemon.
@Suite(.timeLimit(.minutes(5))) struct CommandLineTests {
    /// Texts of tags that would control a terminal, or disguise themselves.
    private static let hostile = "Evil \u{1B}]0;owned\u{7}\u{1B}[31m\u{9B}2J\u{202E}\r\n\u{0}Blue"

    /// A library of a few tracks on two albums, beside a daemon.
    private static func house(daemon: Bool = true) async throws -> LibraryHouse {
        let house = LibraryHouse()
        try house.fill([
            .init(
                place: "music/Miles/1.wav", title: "So What", artists: ["Miles Davis"], album: "Kind of Blue", number: 1
            ),
            .init(
                place: "music/Miles/2.wav", title: "Blue in Green", artists: ["Miles Davis"], album: "Kind of Blue",
                number: 2),
            .init(place: "music/Björk/1.wav", title: "Jóga", artists: ["Björk"], album: "Homogenic", number: 1),
            .init(place: "music/Björk/2.wav", title: "Hunter", artists: ["Björk"], album: "Homogenic", number: 2),
            .init(place: "music/03 no title.wav", title: nil, artists: ["Nobody"], album: nil),
            .init(place: "music/bad.wav", title: hostile, artists: [hostile], album: hostile),
        ])
        if daemon { await house.startDaemon() }
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        // The scan of the start has ended.
        #expect(becomes { (try? client.call("library.status"))?["result"]?["lastScan"]?["finished"] != nil })
        return house
    }

    /// Titles of the queue, by the program itself.
    private static func queue(_ house: LibraryHouse) async -> String {
        await house.tool("queue", "--format", "{{title}}").text
    }

    @Test func questionsAreAnsweredInWords() async throws {
        let house = try await Self.house()
        let answers: [([String], String)] = [
            (
                ["search", "kind", "of", "blue"],
                "Albums\n   1  Kind of Blue – Miles Davis  2 tracks\nTracks\n   2  Miles Davis – Blue in Green  "
                    + "Kind of Blue  0:01\n"
            ),
            (["search", "bjork", "hunter"], "Tracks\n   1  Björk – Hunter  Homogenic  0:01\n"),
            (["search", "no title"], "Tracks\n   1  Nobody – 03 no title  0:01\n"),
            (
                ["find", "--artist", "MILES*"],
                "Miles Davis – So What  Kind of Blue  0:01\nMiles Davis – Blue in Green  Kind of Blue  0:01\n"
            ),
            (["find", "album", "homogenic", "title", "h*", "-f", "{{number}} {{path}}"], "1 music/Björk/2.wav\n"),
            (["find", "--title", "", "--format", "{{title}}"], "03 no title\n"),
            (["find", "--album", "Nope"], ""),
            (["list", "albums", "--artist", "b*"], "Homogenic\n"),
            (["list", "titles", "album", "Kind of Blue"], "Blue in Green\nSo What\n"),
            (["list", "artists", "--limit", "1", "-f", "{{value}} {{tracks}}"], "Björk 2\n"),
            (["browse"], "music/\nprivate/\n"),
            (["browse", "music"], "Björk/\nMiles/\n03 no title.wav  0:01\nbad.wav  "),
            (["browse", house.folder.path("music/Miles")], "1.wav  So What  0:01\n2.wav  Blue in Green  0:01\n"),
            (
                ["browse", "music/Miles", "-f", "{{kind}} {{name}} {{title}}"],
                "track 1.wav So What\ntrack 2.wav Blue in Green\n"
            ),
            (
                ["browse", "music", "-f", "{{name}} {{kind}}"],
                "Björk folder\nMiles folder\n03 no title.wav track\nbad.wav track\n"
            ),
            (["ls", "music/Miles"], "music/Miles/1.wav\nmusic/Miles/2.wav\n"),
            (["listall", "music/Björk"], "music/Björk/1.wav\nmusic/Björk/2.wav\n"),
            (["library"], "6 tracks, 6 seconds\nmusic  \(house.folder.path("music"))"),
            (["stats"], "6 tracks, 6 seconds\n"), (["completion", "artists", "b"], "Björk\n"),
            (["completion", "albums", "kin"], "Kind of Blue\n"),
            (["completion", "folders", "music/"], "music/Björk/\nmusic/Miles/\n"),
        ]
        for (words, text) in answers {
            let outcome = await house.tool(words)
            #expect(outcome.status == 0 && outcome.text.hasPrefix(text), "\(words): \(outcome.text)")
            if !words.contains("library"), !words.contains("stats"), !words.contains("music") {
                #expect(outcome.text == text, "\(words)")
            }
        }
    }

    @Test func foldersAreCompletedHoweverManyThereAre() async throws {
        let house = LibraryHouse()
        try house.fill((1000..<2200).map { LibraryHouse.Song(place: "music/\($0)/1.wav", title: "One") })
        await house.startLibrary()
        #expect(becomes { (try? RawClient(house.librarySocket).call("library.status"))?["result"]?["scan"] == .null })
        for (text, folders) in [("music/219", (2190...2199).map { "music/\($0)/\n" }.joined()), ("MUS", "music/\n")] {
            let found = await house.tool("completion", "folders", text)
            #expect(found.status == 0 && found.text == folders, "\(found.text)")
        }
        let all = await house.tool("completion", "folders", "music/")
        #expect(all.text.split(separator: "\n").count == 200)
    }

    @Test func tracksComeIntoTheQueue() async throws {
        let house = try await Self.house()
        let steps: [([String], String)] = [
            (["play", "--search", "kind of blue"], "So What\nBlue in Green\n"),
            (["add", "--album", "homogenic"], "So What\nBlue in Green\nJóga\nHunter\n"),
            (["search", "no title", "--play"], "03 no title\n"),
            (["play", "--album", "Kind of Blue", "--sort", "-trackNumber"], "Blue in Green\nSo What\n"),
            (["findadd", "artist", "Björk"], "Blue in Green\nSo What\nJóga\nHunter\n"),
            (["lists", "save", "evening"], "Blue in Green\nSo What\nJóga\nHunter\n"),
            (["random", "albums", "1", "--artist", "b*"], "Jóga\nHunter\n"),
            (["lists", "play", "evening"], "Blue in Green\nSo What\nJóga\nHunter\n"),
            (["random", "tracks", "5", "--filter", #"{"title": {"is": "Hunter"}}"#], "Hunter\n"),
            (["random", "2", "--folder", "music/Björk", "--seed", "1", "--add"], ""),
            (["play", "--search", "jóga"], "Jóga\n"),
            (["load", "evening"], "Jóga\nBlue in Green\nSo What\nJóga\nHunter\n"),
        ]
        for (words, titles) in steps {
            let outcome = await house.tool(words)
            #expect(outcome.status == 0 && outcome.text.isEmpty, "\(words): \(outcome.text)")
            let queue = await Self.queue(house)
            #expect(titles.isEmpty ? queue.split(separator: "\n").count == 3 : queue == titles, "\(words): \(queue)")
        }
    }

    @Test func listsAreChangedByWords() async throws {
        let house = try await Self.house()
        func shows(_ list: String) async -> String {
            await house.tool("lists", "show", list, "-f", "{{number}} {{title}}").text
        }
        let steps: [([String], list: String, String)] = [
            (
                ["lists", "save", "mine", "music/Miles", "music/Björk/2.wav"], "mine",
                "1 So What\n2 Blue in Green\n3 Hunter\n"
            ),
            (
                ["lists", "append", "mine", "music/Björk/1.wav"], "mine",
                "1 So What\n2 Blue in Green\n3 Hunter\n4 Jóga\n"
            ),
            (["lists", "move", "mine", "4", "1"], "mine", "1 Jóga\n2 So What\n3 Blue in Green\n4 Hunter\n"),
            (["lists", "remove", "mine", "1", "3-4"], "mine", "1 So What\n"),
            (["lists", "rename", "mine", "yours"], "yours", "1 So What\n"),
            (["lists", "save", "new", "--added-since", "1y"], "new", ""),
            (
                ["lists", "save", "old", "--not-played-since", "1d", "--sort", "-title", "--album", "homogenic"], "old",
                "1 Jóga\n2 Hunter\n"
            ),
        ]
        for (words, list, text) in steps {
            let outcome = await house.tool(words)
            #expect(outcome.status == 0 && outcome.text.isEmpty, "\(words): \(outcome.text)")
            let shown = await shows(list)
            #expect(shown == text, "\(words)")
        }
        let kept = await house.tool("lists", "show", "new", "--json")
        #expect(try JSONReader.read(kept.text)["filter"] == ["added": ["atLeast": "1y"]], "\(kept.text)")
        let again = await house.tool("lists", "save", "yours", "music/Miles")
        #expect(again.status == 1 && again.text.contains("--replace overwrites it"), "\(again)")
        for (words, part) in [
            (["lists", "remove", "yours", "9"], "the list \"yours\" has fewer items: it has "),
            (["lists", "move", "yours", "9", "1"], "fewer items"),
            (["lists", "append", "yours", "./typo.wav"], "./typo.wav is neither a file"),
            (["lists", "append", "yours", "typo.wav"], "typo.wav is neither a file"),
        ] {
            let outcome = await house.tool(words)
            #expect(outcome.status == 3 && outcome.text.contains(part), "\(words): \(outcome)")
        }
        let forced = await house.tool("lists", "save", "yours", "music/Miles", "--replace")
        #expect(forced.status == 0)
        let names = await house.tool("lists")
        #expect(names.text == "new  saved filter\nold  saved filter\nyours  2 items\n")
        let words = await house.tool("completion", "lists")
        #expect(words.text == "new\nold\nyours\n")
        for name in ["new", "old", "yours"] {
            let deleted = await house.tool("lists", "delete", name)
            #expect(deleted.status == 0)
        }
        let none = await house.tool("lists")
        #expect(none.text.isEmpty && none.status == 0)
    }

    @Test func updatesFindFilesAndWait() async throws {
        let house = try await Self.house()
        let tone = AudioMaterial.noise(frames: 8000, sampleRate: 8000, channels: 1, seed: 77).wave()
        _ = house.folder.write(tone, "music/Miles/new one.wav")
        let update = await house.tool("library", "update", "--wait")
        #expect(update.status == 0 && update.text.isEmpty, "\(update.text)")
        // Contents are identified, too.
        #expect(
            try TrackDatabase(path: house.folder.path("state/library/tracks.db")).reader().scan.unidentifiedCount() == 0
        )
        let found = await house.tool("find", "--title", "new*", "-f", "{{path}}")
        #expect(found.text == "music/Miles/new one.wav\n")
        let part = await house.tool("library", "update", "music/Miles", "--wait", "--json")
        #expect(part.text == "{\"started\":true}\n")
    }

    @Test func everyAnswerIsHarmlessForATerminal() async throws {
        let house = try await Self.house()
        let questions: [[String]] = [
            ["search", "evil"], ["search", "evil", "--json"], ["find", "--artist", "evil*"],
            ["find", "--artist", "evil*", "--json"],
            ["list", "artists"], ["list", "titles", "--json"], ["list", "albums", "-f", "{{value}}"],
            ["browse", "music"],
            ["browse", "music", "--json"], ["library"], ["library", "--json"], ["completion", "artists", "e"],
            ["completion", "albums"], ["search", "evil", "--kind", "track", "--add"], ["queue"], ["queue", "--json"],
            ["status"], ["lists", "save", "x"], ["lists", "show", "x"], ["lists", "show", "x", "--json"],
            ["lists", "--json"],
            ["lists", "save", "y", "music/bad.wav", "--json"], ["random", "1", "--artist", "evil*", "--json"],
            ["find", "--artist", "evil*", "-f", "{{title}} {{artist}} {{album}}"], ["search", Self.hostile],
            ["browse", "\u{1B}[31m"],
            ["lists", "show", "\u{1B}[31m"], ["lists", "delete", "\u{9B}2J"], ["library", "update", "/\u{1B}c"],
        ]
        for words in questions {
            let outcome = await house.tool(words)
            let isHarmless = outcome.text.unicodeScalars.allSatisfy { scalar in
                scalar == "\n"
                    || scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && scalar.value != 0x202E
            }
            #expect(isHarmless, "\(words): \(outcome.text.debugDescription)")
            if words.contains("--json"), outcome.status == 0 {
                #expect(outcome.text.split(separator: "\n").count == 1, "\(words): \(outcome.text)")
                _ = try JSONReader.read(outcome.text)
            }
        }
        let shown = await house.tool("list", "titles")
        #expect(shown.text.contains("Evil"), "the hostile title is there: \(shown.text)")
    }

    @Test func mistakesAndAbsencesAreNamed() async throws {
        let house = try await Self.house(daemon: false)
        func expect(_ words: [String], _ status: Int32, _ part: String) async {
            let outcome = await house.tool(words)
            #expect(outcome.status == status && outcome.text.contains(part), "\(words): \(outcome)")
        }
        await expect(["search", "zzzz"], 3, "nothing in the library matches \"zzzz\"")
        await expect(["add", "--album", "Nope"], 3, "no track of the library matches")
        await expect(["browse", "nowhere"], 3, "nowhere: there is no such folder in the library")
        await expect(["find", "--folder", "nowhere"], 3, "nowhere: there is no such folder in the library")
        await expect(["find", "--folder", "music", "--genre", "nowhere"], 0, "")
        await expect(["lists", "show", "nope"], 3, "there is no list “nope”")
        await expect(["lists", "save", "none", "--genre", "none"], 0, "")
        await expect(["lists", "play", "none"], 3, "the list \"none\" has no tracks at present")
        await expect(["lists", "append", "none", "music/bad.wav"], 1, "saved filter")
        await expect(["find", "artits", "x"], 2, "artist")
        await expect(["find", "--sort", "titel", "--liked"], 2, "title")
        for words in [["find", "--liked"], ["browse"], ["lists", "show", "none"]] {
            await expect(words + ["-f", "{{titel}}"], 2, "tracks have no \"titel\"; did you mean title?")
        }
        // The library answers without the daemon, and additions need it.
        for words in [
            ["play", "--search", "hunter"], ["add", "--album", "Homogenic"], ["random"], ["lists", "save", "q"],
        ] {
            await expect(words, 8, "no daemon answers")
        }
        let library = try #require(house.process("nowplaying-library"))
        library.signal(SIGTERM)
        library.wait()
        for words in [["search", "x"], ["lists"], ["library", "update"], ["random"]] {
            await expect(
                words, 8, "no library answers\n  \(house.librarySocket): no such socket: no library was started here")
        }
    }
}

extension LibraryHouse {
    /// Runs nowplayingctl: its exit status, and all that it prints.
    fileprivate func tool(_ words: String...) async -> (status: Int32, text: String) { await tool(words) }

    /// The same with an array of words.
    fileprivate func tool(_ words: [String]) async -> (status: Int32, text: String) {
        let command = ["sh", "-c", "exec \"$@\" 2>&1", "sh", Self.path(of: "nowplayingctl")] + words
        let environment = [
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": folder.path, "NOWPLAYING_SOCKET": daemonSocket,
        ]
        let process = await LoopThread.run { TestProcess(command, environment: environment, output: true) }
        let text = process.readAll()
        return (process.wait(), text)
    }
}
