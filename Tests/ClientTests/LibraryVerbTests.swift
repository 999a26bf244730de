import ControlProtocol
import Foundation
import Synchronization
import TestSupport
import Testing

/// Requests of the verbs of the library, through the real program.
@Suite(.timeLimit(.minutes(8))) struct LibraryVerbTests {
    private let folder = TemporaryFolder()

    private static let hits: JSONValue = [
        [
            "kind": "album", "name": "Kind of Blue", "artist": "Miles Davis", "date": "1959-08-17", "tracks": 5,
            "filter": ["album": 7],
        ],
        ["kind": "artist", "name": "Kind\u{1B}[2J", "tracks": 1, "filter": ["artist": ["is": "Kind"]]],
        ["kind": "album", "name": "Kind", "artist": "X", "tracks": 1, "filter": ["album": 8]],
        [
            "kind": "track", "title": "So What", "artist": "Miles Davis", "album": "Kind of Blue", "duration": 545,
            "filter": ["uri": ["is": "a"]],
        ],
        [
            "kind": "folder", "name": "kind", "path": "Music/kind", "uri": "file:///m/kind",
            "filter": ["folder": ["is": "a"]],
        ],
        ["kind": "list", "name": "kind list", "list": "kind list"],
    ]

    /// A library that answers a few questions.
    private static func answer(_ method: String, _ parameters: JSONValue) -> FakeDaemon.Reply {
        switch method {
        case "library.search":
            let kinds = parameters["kinds"]?.arrayValue
            let rows = hits.arrayValue?.filter { hit in kinds?.contains { $0 == hit["kind"] } ?? true } ?? []
            return .result(["version": 1, "rows": parameters["text"] == "nothing" ? [] : .array(rows)])
        case "library.add":
            let isNothing = JSONWriter.text(parameters).contains("nothing")
            return .result(["firstId": 20, "count": .integer(isNothing ? 0 : 2), "version": 8])
        case "library.query":
            if parameters["sort"] == "randomAlbums" {
                let albums: [JSONValue] = ["a", "a", "b", "b", "b", "c"]
                return .result(["rows": .array(albums.map { ["albumId": $0] } + [[:]])])
            }
            if parameters["fields"] == ["uri"] {
                return .result(["rows": [["uri": "file:///m/1"], ["uri": "file:///m/2"]]])
            }
            guard parameters["after"] == nil else {
                return .result(["rows": [["title": "B", "uri": "u", "path": "Music/b"]], "version": 1])
            }
            return .result([
                "rows": [["title": "A\u{9B}", "artist": "X", "album": "Y", "duration": 61, "path": "Music/a"]],
                "next": "n", "version": 1,
            ])
        case "library.values":
            return .result(["rows": [["value": "Blues", "tracks": 3], ["value": "Jazz\n", "tracks": 9]]])
        case "library.browse":
            return .result([
                "path": "Music/Jazz", "uri": "file:///m/Jazz",
                "rows": [
                    ["kind": "folder", "name": "x", "path": "Music/Jazz/x"],
                    ["kind": "track", "path": "Music/Jazz/1.flac", "title": "One", "duration": 5],
                ],
            ])
        case "library.status": return .result(["tracks": 5, "scan": .null])
        case "lists.list":
            return .result([
                "lists": [
                    ["name": "evening", "kind": "items", "count": 3], ["name": "new", "kind": "filter"],
                    ["name": "Mu\u{202E}sic/x", "kind": "file", "count": 1, "isReadOnly": true],
                ]
            ])
        case "lists.get": return .result(["count": 2, "rows": [["title": "One"], ["title": "Two", "duration": 61]]])
        case "lists.save":
            if parameters["name"] == "evening", parameters["ifVersion"] == 0 {
                return .error(200, "the list has changed", ["reason": "version"])
            }
            return .result(["version": 3, "count": 2])
        default: return .result([:])
        }
    }

    private func daemon() -> FakeDaemon {
        let isTrimmed = Mutex(false)
        return FakeDaemon(folder.path("control.sock")) { method, _ in
            switch method {
            case "nowPlaying.get": return .result(Sample.state())
            case "queue.list":
                let items: [JSONValue] = isTrimmed.withLock { $0 } ? [] : [["id": 11], ["id": 12]]
                return .result(["items": .array(items), "version": 9])
            case "queue.remove":
                isTrimmed.withLock { $0 = true }
                return .result([:])
            default: return .result([:])
            }
        }
    }

    private func library() -> FakeDaemon { FakeDaemon(folder.path("library.sock"), Self.answer) }

    /// Words of a line; quotes keep spaces.
    private func words(_ line: String) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
    }

    private static let sorted = #""sort":["albums"]"#

    @Test(
        arguments: [
            (
                "find --album Kind --limit 1",
                #"library.query {"filter":{"album":{"matches":"Kind"}},\#(sorted),"limit":1}"#
            ),
            (
                "find artist X --sort -added --limit 1 -f {{title}}{{xesam:album}}",
                #"library.query {"filter":{"any":[{"artist":{"matches":"X"}},{"albumArtist":{"matches":"X"}}]},"sort":["-added"],"fields":["uri","title","album"],"limit":1}"#
            ),
            (
                "find --liked --genre '' --limit 1",
                #"library.query {"filter":{"all":[{"genre":{"missing":true}},{"liked":{"is":true}}]},\#(sorted),"limit":1}"#
            ),
            (
                "find --genre a --genre b --year 1990- --limit 1",
                #"library.query {"filter":{"all":[{"genre":{"matches":"a"}},{"genre":{"matches":"b"}},{"date":{"atLeast":"1990"}}]},\#(sorted),"limit":1}"#
            ),
            ("find --sort path --limit 1", #"library.query {"sort":["uri"],"limit":1}"#),
            (
                "find --folder Music/Jazz/ --limit 1",
                #"library.query {"filter":{"folder":{"below":"Music/Jazz"}},\#(sorted),"limit":1}"#
            ),
            ("list artists", #"library.values {"tag":"artist","limit":1000}"#),
            (
                "list album artist X",
                #"library.values {"tag":"album","filter":{"any":[{"artist":{"matches":"X"}},{"albumArtist":{"matches":"X"}}]},"limit":1000}"#
            ),
            (
                "list years --genre jazz --limit 3",
                #"library.values {"tag":"date","filter":{"genre":{"matches":"jazz"}},"limit":3}"#
            ),
            ("browse", #"library.browse {"limit":1000}"#),
            ("browse Music/", #"library.browse {"path":"Music","limit":1000}"#),
            ("browse /m/a b", ""), ("browse '/m/a b'", #"library.browse {"uri":"file:///m/a%20b","limit":1000}"#),
            ("browse file:///m/x%E9", #"library.browse {"uri":"file:///m/x%E9","limit":1000}"#),
            ("ls Music", #"library.browse {"path":"Music","fields":["path"],"limit":1000}"#),
            ("library update", "library.update {}"), ("update /m", #"library.update {"uri":"file:///m"}"#),
            ("lists show evening", #"lists.get {"name":"evening","limit":1000,"offset":0}"#),
            ("lists rename evening x", #"lists.rename {"name":"evening","to":"x"}"#),
            ("lists delete evening", #"lists.delete {"name":"evening"}"#),
            ("rm evening", #"lists.delete {"name":"evening"}"#),
            ("lists add evening", #"library.add {"list":"evening"}"#),
            ("lists add evening --next --session x", #"library.add {"list":"evening","session":"x","next":true}"#),
            ("load evening", #"library.add {"list":"evening"}"#), ("lsplaylists", "lists.list {}"),
            ("lists", "lists.list {}"),
            (
                "lists save x /etc/passwd http://x.org/b",
                #"lists.save {"name":"x","uris":["file:///etc/passwd","http://x.org/b"],"ifVersion":0}"#
            ),
            (
                "lists save x --replace --added-since 2025 --sort -added",
                #"lists.save {"name":"x","filter":{"added":{"atLeast":"2025"}},"sort":["-added"]}"#
            ),
            ("lists save x --session night", #"lists.save {"name":"x","session":"night","ifVersion":0}"#),
            (
                "lists remove x 5 1-2 2-3",
                #"lists.edit {"name":"x","edits":[{"remove":{"at":4,"count":1}},{"remove":{"at":0,"count":3}}]}"#
            ),
            ("lists move x 3-4 1", #"lists.edit {"name":"x","edits":[{"move":{"from":2,"count":2,"to":0}}]}"#),
            ("add --album X --next", #"library.add {"filter":{"album":{"matches":"X"}},\#(sorted),"next":true}"#),
            (
                "add --artist X --limit 5 --at 3",
                #"library.add {"filter":{"any":[{"artist":{"matches":"X"}},{"albumArtist":{"matches":"X"}}]},\#(sorted),"limit":5,"at":2}"#
            ),
            ("findadd album X", #"library.add {"filter":{"album":{"matches":"X"}},\#(sorted)}"#),
            ("searchadd any X", #"library.add {"filter":{"anyTag":{"contains":"X"}},\#(sorted)}"#),
            (
                "random 7 --add --seed 5",
                #"library.add {"filter":{"unreadable":{"is":false}},"sort":"random","seed":5,"limit":7}"#
            ),
            (
                "random --next --seed 5 --liked",
                #"library.add {"filter":{"all":[{"liked":{"is":true}},{"unreadable":{"is":false}}]},"sort":"random","seed":5,"#
                    + #""limit":50,"next":true}"#
            ),
        ])
    func oneRequest(line: String, request: String) {
        let (library, daemon) = (library(), daemon())
        let outcome = Tool.run(words(line), socket: folder.path("control.sock"))
        guard !request.isEmpty else { return #expect(outcome.status == 2 && library.requests.isEmpty) }
        #expect(outcome.status == 0, "\(outcome.complaint)")
        #expect(library.requests == [request])
        #expect(outcome.complaint.isEmpty)
        #expect(daemon.requests.isEmpty)
    }

    private static let replaced = [
        #"queue.list {"offset":2,"limit":10000,"fields":["id"]}"#, #"queue.remove {"ids":[11,12],"ifVersion":9}"#,
    ]

    /// The old items go when the new ones are there.
    @Test(
        arguments: [
            ("play --album X", [#"library.add {"filter":{"album":{"matches":"X"}},\#(sorted),"at":0,"play":true}"#]),
            (
                "play --search kind of blue",
                [
                    #"library.search {"text":"kind of blue","limit":200}"#,
                    #"library.add {"filter":{"album":7},\#(sorted),"at":0,"play":true}"#,
                ]
            ),
            (
                "search kind --play -n 3",
                [
                    #"library.search {"text":"kind","limit":200}"#,
                    #"library.add {"filter":{"artist":{"is":"Kind"}},\#(sorted),"at":0,"play":true}"#,
                ]
            ),
            (
                "play --search kind --hit 1 --kind list",
                [
                    #"library.search {"text":"kind","kinds":["list"],"limit":200}"#,
                    #"library.add {"list":"kind list","at":0,"play":true}"#,
                ]
            ),
            ("lists play evening", [#"library.add {"list":"evening","at":0,"play":true}"#]),
            (
                "random albums 2 --seed 1",
                [
                    #"library.query {"filter":{"unreadable":{"is":false}},"sort":"randomAlbums","seed":1,"fields":["albumId"],"#
                        + #""limit":10000}"#,
                    #"library.add {"filter":{"unreadable":{"is":false}},"sort":"randomAlbums","seed":1,"limit":5,"at":0,"#
                        + #""play":true}"#,
                ]
            ),
        ] as [(String, [String])])
    func theQueueIsReplaced(line: String, requests: [String]) {
        let (library, daemon) = (library(), daemon())
        let outcome = Tool.run(words(line), socket: folder.path("control.sock"))
        #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome.complaint)")
        #expect(library.requests == requests)
        #expect(daemon.requests == Self.replaced + [Self.replaced[0], "nowPlaying.get"])
    }

    @Test(arguments: [
        (
            "search kind",
            """
            Albums
               1  Kind of Blue – Miles Davis (1959)  5 tracks
               2  Kind – X  1 track
            Artists
               3  Kind\u{FFFD}[2J  1 track
            Tracks
               4  Miles Davis – So What  Kind of Blue  9:05
            Folders
               5  Music/kind
            Lists
               6  kind list

            """
        ),
        (
            "search kind --limit 1 --kind albums",
            "Albums\n   1  Kind of Blue – Miles Davis (1959)  5 tracks\n      more: --kind album\n"
        ),
        ("find --album X", "X – A\u{FFFD}  Y  1:01\nB\n"), ("find --album X --limit 1", "X – A\u{FFFD}  Y  1:01\n"),
        ("find --album X -f '{{number}} {{path}} {{duration(duration)}}'", "1 Music/a 1:01\n2 Music/b \n"),
        ("list genres", "Blues\nJazz \n"), ("list genre -f '{{tracks}} {{value}}'", "3 Blues\n9 Jazz \n"),
        ("browse Music/Jazz", "x/\n1.flac  One  0:05\n"), ("ls Music", "Music/Jazz/x\nMusic/Jazz/1.flac\n"),
        ("listall", "Music/a\nMusic/b\n"),
        ("lists", "evening  3 items\nnew  saved filter\nMusic/x  1 item  a file of the library, read-only\n"),
        ("lists show evening", "   1  One\n   2  Two  1:01\n"),
        ("lists show evening -f '{{number}}:{{title}}'", "1:One\n2:Two\n"),
        ("lsplaylists", "evening\nnew\nMusic/x\n"),
    ])
    func whatIsPrinted(line: String, text: String) {
        let library = library()
        var words = words(line)
        if line == "find --album X --limit 1" { words += ["--sort", "title"] }
        let outcome = Tool.run(words, socket: folder.path("control.sock"))
        #expect(outcome.output == text, "\(outcome.complaint)")
        #expect(outcome.status == 0 && !library.requests.isEmpty)
    }

    @Test(arguments: [
        "search kind", "find --album X", "list genres", "browse Music", "lists", "lists show evening", "library",
    ])
    func jsonIsOneHarmlessLine(line: String) throws {
        let library = library()
        let outcome = Tool.run(words(line) + ["--json"], socket: folder.path("control.sock"))
        #expect(outcome.status == 0 && outcome.output.split(separator: "\n").count == 1, "\(outcome.complaint)")
        let json = try JSONReader.read(outcome.output)
        #expect(json.objectValue != nil && json["next"] == nil)
        if line.hasPrefix("find") { #expect(json["rows"]?.arrayValue?.count == 2) }
        #expect(outcome.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
        #expect(!library.requests.isEmpty)
    }

    @Test(arguments: [
        ("search", "needs more", Int32(2)), ("search x --hit 2", "--hit chooses", 2),
        ("search x --play --add", "exclude", 2),
        ("search x --play -n 0", "from 1", 2), ("search x --kind song", "artist, album", 2),
        ("search x --limit 0", "from 1", 2), ("find", "--artist", 2), ("find album", "stands alone", 2),
        ("find --year 94", "1994, 1990-1999", 2), ("find --rating 9", "stars from 0 to 5", 2),
        ("find --filter {x --artist y", "--filter", 2), ("find --not-played-since 1m", "6mo", 2),
        ("list", "needs more", 2), ("random x", "tracks, albums", 2), ("random 0", "from 1", 2),
        ("random albums 2 3", "takes no", 2), ("random --add --next", "exclude", 2),
        ("random --seed x", "whole number", 2),
        ("lists shwo x", "did you mean show?", 2), ("lists show", "expected lists show LIST", 2),
        ("lists remove x", "expected lists remove", 2), ("lists remove x 0", "from 1", 2),
        ("lists save x /m/a --queue", "exclude", 2), ("rm 3", "remove 3 removes from the queue", 2),
        ("library scan", "update [FOLDER]", 2), ("library --wait", "library update", 2),
        ("play --album X /m/a", "exclude", 2), ("play --album X --position 5", "exclude", 2),
        ("play --kind album", "belong to --search", 2), ("add --from x --album y", "exclude", 2),
        ("play --search x --album y", "exclude each other", 2), ("searchadd artist x y", "pairs", 2),
        ("search nothing", "nothing in the library matches \"nothing\"", 3), ("play --album nothing", "no track", 3),
        ("search kind --play -n 7", "shows 6 hits", 3), ("lists save evening /m/a", "--replace overwrites it", 1),
    ])
    func mistakes(line: String, part: String, status: Int32) {
        let (library, daemon) = (library(), daemon())
        let outcome = Tool.run(words(line), socket: folder.path("control.sock"))
        #expect(outcome.status == status, "\(outcome.complaint)")
        #expect(outcome.complaint.contains(part), "\(outcome.complaint)")
        #expect(outcome.output.isEmpty && daemon.requests.isEmpty)
        if status == 2 { #expect(library.requests.isEmpty) }
    }

    /// mpc's `random on` stays the play order.
    @Test func theWordOfMPC() {
        let (library, daemon) = (library(), daemon())
        #expect(Tool.run(["random", "on"], socket: folder.path("control.sock")).status == 0)
        #expect(daemon.requests == [#"changeShuffleMode {"mode":"items"}"#] && library.requests.isEmpty)
    }

    @Test func anAbsentLibraryIsNamed() {
        let socket = folder.path("control.sock")
        let outcome = Tool.run(["search", "x"], socket: socket)
        #expect(outcome.status == 8)
        #expect(outcome.complaint.contains("no library answers\n  \(folder.path)/library.sock: no such socket"))
        #expect(outcome.complaint.contains("systemctl --user enable --now nowplaying-library"))
        let other = Tool.run(
            ["lists"], socket: socket, environment: ["NOWPLAYING_LIBRARY_SOCKET": folder.path("other.sock")])
        #expect(other.complaint.contains("other.sock") && !other.complaint.contains("library.sock"))
    }

    @Test func aLibraryWithoutADaemonSaysSo() {
        let library = FakeDaemon(folder.path("library.sock")) { method, _ in
            method == "library.add"
                ? .error(200, "no daemon answers at /x", ["reason": "noDaemon"]) : .result(["rows": Self.hits])
        }
        let outcome = Tool.run(["play", "--search", "x"], socket: folder.path("control.sock"))
        #expect(outcome.status == 8 && outcome.complaint.contains("no daemon answers at /x"))
        #expect(library.requests.count == 2)
    }
}
