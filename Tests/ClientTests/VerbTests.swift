import ControlProtocol
import Synchronization
import TestSupport
import Testing

/// Requests of every verb, through the real program.
@Suite(.timeLimit(.minutes(8))) struct VerbTests {
    private let folder = TemporaryFolder()

    /// A daemon with an item of 200 s, a queue of five items with the ids 11 to 15, and two outputs.
    private func daemon(_ socket: String) -> FakeDaemon {
        FakeDaemon(socket) { method, parameters in
            switch method {
            case "nowPlaying.get": return .result(Sample.state(elapsed: 83, rate: 0))
            case "queue.list":
                let offset = parameters["offset"]?.integerValue ?? 0
                let limit = parameters["limit"]?.integerValue ?? 100
                let ids = (11...15).dropFirst(Int(offset)).prefix(Int(limit))
                return .result([
                    "version": 7, "count": 5,
                    "items": .array(
                        ids.map {
                            [
                                "id": .integer(Int64($0)), "title": .string("T\($0)"), "duration": 61,
                                "uri": .string("/m/\($0)"),
                            ]
                        }),
                ])
            case "queue.add": return .result(["ids": [20], "version": 8])
            case "output.list":
                return .result([
                    "outputs": [
                        ["name": "speaker", "description": "Built-in", "default": true, "current": false],
                        ["name": "usb", "description": "USB\u{1B}[2J", "default": false, "current": true],
                    ]
                ])
            default: return .result(["status": "success", "state": "playing", "version": 8])
            }
        }
    }

    @Test(arguments: [
        ("play", "play"), ("play 3", #"play {"index":2}"#), ("play --position 1:00", #"play {"position":60}"#),
        ("play 2 --position=5", #"play {"position":5,"index":1}"#), ("play /m/a.flac", #"play {"uri":"/m/a.flac"}"#),
        ("play http://x.org/a", #"play {"uri":"http://x.org/a"}"#), ("open /m/a.flac", #"play {"uri":"/m/a.flac"}"#),
        ("pause", "pause"), ("stop", "stop"), ("toggle", "togglePlayPause"), ("play-pause", "togglePlayPause"),
        ("next", "nextTrack"), ("previous", "previousTrack"), ("prev", "previousTrack"),
        ("previous --no-restart", #"previousTrack {"restart":false}"#), ("skip", "skipForward"),
        ("skip --back", "skipBackward"), ("skip 30", #"skipForward {"interval":30}"#),
        ("skip -15", #"skipBackward {"interval":15}"#), ("skip -0.5", #"skipBackward {"interval":0.5}"#),
        ("seek 83", #"changePlaybackPosition {"position":83}"#),
        ("seek 1:23.5", #"changePlaybackPosition {"position":83.5}"#), ("seek +10", #"skipForward {"interval":10}"#),
        ("seek -- -10", #"skipBackward {"interval":10}"#), ("position 10-", #"skipBackward {"interval":10}"#),
        ("position 30", #"changePlaybackPosition {"position":30}"#), ("volume 50", #"volume.set {"volume":0.5}"#),
        ("volume 50%", #"volume.set {"volume":0.5}"#), ("volume +5", #"volume.set {"step":0.05}"#),
        ("volume -5", #"volume.set {"step":-0.05}"#), ("mute", #"volume.set {"muted":true}"#),
        ("unmute", #"volume.set {"muted":false}"#), ("clear", "queue.clear"),
        ("output usb", #"output.select {"name":"usb"}"#),
        ("output usb --delay 0.25", #"output.delay.set {"name":"usb","delay":0.25}"#),
        (
            "configure skip-forward --intervals 15,30",
            #"commands.configure {"command":"skipForward","preferredIntervals":[15,30]}"#
        ),
        (
            "configure play --disable --reason no",
            #"commands.configure {"command":"play","enabled":false,"reason":"no"}"#
        ),
        ("configure nextTrack --disable", #"commands.configure {"command":"nextTrack","enabled":false}"#),
        ("session create x --policy pause-spoken", #"session.create {"name":"x","policy":"pauseSpoken"}"#),
        ("volume 12.5%", #"volume.set {"volume":0.125}"#), ("call queue.list", "queue.list"),
        (#"call hello {"client":"x"}"#, #"hello {"client":"x"}"#),
        ("add /m/a /m/b", #"queue.add {"items":["/m/a","/m/b"]}"#),
        ("add --next /m/a", #"queue.add {"next":true,"items":["/m/a"]}"#),
        ("add --at 2 --play /m/a", #"queue.add {"at":1,"play":true,"items":["/m/a"]}"#),
        ("insert /m/a", #"queue.add {"next":true,"items":["/m/a"]}"#),
        ("like", #"like {"active":true}"#), ("dislike --undo", #"dislike {"active":false}"#),
        ("rating 4", #"rating {"rating":4}"#), ("bookmark --undo", #"bookmark {"active":false}"#),
        ("rating --file /m/a 4", #"feedback.set {"uri":"/m/a","rating":4}"#),
        ("rating --file /m/a --undo", #"feedback.set {"uri":"/m/a","rating":null}"#),
        ("like --file /m/a --undo", #"feedback.set {"uri":"/m/a","like":false}"#),
        ("bookmark --file http://x.org/a 1:23", #"feedback.set {"uri":"http://x.org/a","bookmark":83}"#),
        ("bookmark --file /m/a --undo", #"feedback.set {"uri":"/m/a","bookmark":null}"#),
    ])
    func oneRequest(line: String, request: String) {
        let socket = folder.path("one.sock")
        let daemon = daemon(socket)
        let outcome = Tool.run(line.split(separator: " ").map(String.init), socket: socket)
        #expect(outcome.status == 0, "\(outcome.complaint)")
        #expect(daemon.requests == [request])
        #expect(outcome.complaint.isEmpty)
        if !line.hasPrefix("call") { #expect(outcome.output.isEmpty) }
    }

    @Test(
        arguments: [
            ("play /m/a /usr", [#"play {"uri":"/m/a"}"#, #"queue.add {"items":["/usr"]}"#]),
            ("seek 50%", ["nowPlaying.get", #"changePlaybackPosition {"position":100,"itemId":12}"#]),
            ("seek +5%", ["nowPlaying.get", #"skipForward {"interval":10}"#]),
            ("mute --toggle", ["nowPlaying.get", #"volume.set {"muted":true}"#]),
            ("output 2", ["output.list", #"output.select {"name":"usb"}"#]),
            ("rating --file /m/a", [#"feedback.get {"uris":["/m/a"]}"#]),
            ("rating --item 2 4.5", [#"queue.list {"offset":1,"limit":1}"#, #"feedback.set {"id":12,"rating":4.5}"#]),
            ("output 2 --delay 0", ["output.list", #"output.delay.set {"name":"usb","delay":0}"#]),
            ("remove 2", [#"queue.list {"offset":1,"limit":1}"#, #"queue.remove {"ids":[12],"ifVersion":7}"#]),
            (
                "del 1-2 2-3",
                [
                    #"queue.list {"offset":0,"limit":2}"#, #"queue.list {"offset":1,"limit":2}"#,
                    #"queue.remove {"ids":[11,12,13],"ifVersion":7}"#,
                ]
            ),
            ("queue", ["nowPlaying.get", #"queue.list {"limit":10000,"offset":0}"#]),
            (
                "queue -f {{number}}{{album}}{{item.format.codec}}{{volume}}",
                ["nowPlaying.get", #"queue.list {"limit":10000,"fields":["id","albumTitle","format"],"offset":0}"#]
            ),
            (
                "prioritize 10 2",
                [#"queue.list {"offset":1,"limit":1}"#, #"queue.prioritize {"ids":[12],"priority":10,"ifVersion":7}"#]
            ),
            ("queue shuffle", ["queue.shuffle"]),
            (
                "queue shuffle 2-3 1",
                [
                    #"queue.list {"offset":1,"limit":2}"#, #"queue.list {"offset":0,"limit":1}"#,
                    #"queue.shuffle {"ids":[12,13,11],"ifVersion":7}"#,
                ]
            ),
            ("move 5 1", [#"queue.list {"offset":4,"limit":1}"#, #"queue.move {"ids":[15],"to":0,"ifVersion":7}"#]),
            (
                "crop",
                [
                    "nowPlaying.get", #"queue.list {"offset":0,"limit":1000}"#,
                    #"queue.remove {"ids":[11,13,14,15],"ifVersion":7}"#,
                ]
            ),
        ] as [(String, [String])])
    func severalRequests(line: String, requests: [String]) {
        let socket = folder.path("several.sock")
        let daemon = daemon(socket)
        let outcome = Tool.run(line.split(separator: " ").map(String.init), socket: socket)
        #expect(outcome.status == 0, "\(outcome.complaint)")
        #expect(daemon.requests == requests)
    }

    @Test(arguments: [
        ("volume", "80 %\n"), ("volume -f {{volume}}", "0.8\n"), ("current", "Miles Davis - So What\n"),
        ("position", "83\n"), ("metadata xesam:title", "So What\n"),
        ("status -f {{status}}:{{duration(position)}}", "Playing:1:23\n"),
        ("-f {{artist}} metadata", "Miles Davis\n"), ("-f{{artist}} metadata", "Miles Davis\n"),
        ("current --format={{album}}", "Kind of Blue\n"), ("-f{{title}}", "So What\n"),
        ("volume -f{{volume}}", "0.8\n"),
        ("output", "usb  USB\u{FFFD}[2J\n"), ("position -f {{position}}", "83000000\n"),
        ("queue", "     1  T11  1:01\n*    2  T12  1:01\n     3  T13  1:01\n     4  T14  1:01\n     5  T15  1:01\n"),
        (
            "queue --format {{number}}:{{title}}:{{uri}}",
            "1:T11:/m/11\n2:T12:/m/12\n3:T13:/m/13\n4:T14:/m/14\n5:T15:/m/15\n"
        ),
        ("queue -f {{duration(duration)}}", "1:01\n1:01\n1:01\n1:01\n1:01\n"),
        ("outputs", "  1  speaker  Built-in\n* 2  usb  USB\u{FFFD}[2J\n"),
    ])
    func whatIsPrinted(line: String, output: String) {
        let socket = folder.path("printed.sock")
        let daemon = daemon(socket)
        let outcome = Tool.run(line.split(separator: " ").map(String.init), socket: socket)
        #expect(outcome.output == output)
        #expect(outcome.status == 0, "\(outcome.complaint)")
        #expect(!daemon.requests.isEmpty)
    }

    @Test(
        "a session whose program is missing is not published", arguments: ["/nope", "./verb", "no-such-program-here"])
    func missingProgram(program: String) {
        let socket = folder.path("program.sock")
        let daemon = daemon(socket)
        let outcome = Tool.run(
            ["session", "publish", "air", "--commands", "play,pause", "--run", program], socket: socket)
        #expect(outcome.status == 3)
        #expect(outcome.complaint.contains("cannot run \(program): there is no such program"), "\(outcome.complaint)")
        #expect(!daemon.requests.contains { $0.hasPrefix("session.create") })
    }

    @Test func statusTellsWhatPeopleAskFirst() {
        let socket = folder.path("status.sock")
        let daemon = daemon(socket)
        let outcome = Tool.run(["status"], socket: socket)
        #expect(Tool.run([], socket: socket).output == outcome.output)
        for part in [
            "So What", "Miles Davis", "Kind of Blue (1959)", "playing", "1:23 / 3:20", "2 of 5", "volume 80 %",
            "Speaker", "next: ",
        ] {
            #expect(outcome.output.contains(part), "\(part) in \(outcome.output)")
        }
        #expect(!outcome.output.contains("\u{1B}"))
        #expect(daemon.requests == ["nowPlaying.get", "nowPlaying.get"])
    }

    @Test func manyFilesAreSentInPortionsAndInOrder() {
        let socket = folder.path("many.sock")
        let daemon = daemon(socket)
        let long = String(repeating: "x", count: 200)
        let files = (0..<3000).map { "/m/\($0)\(long)" }
        #expect(Tool.run(["add"] + files, socket: socket).status == 0)
        #expect(daemon.requests.count > 2)
        #expect(daemon.requests.allSatisfy { $0.utf8.count < 256 * 1024 - 100 })
        let sent = daemon.requests.flatMap { request in
            (try? JSONReader.read(String(request.dropFirst("queue.add ".count))))?["items"]?.arrayValue ?? []
        }
        #expect(sent.compactMap(\.stringValue) == files)
    }

    @Test func relativeNamesAndForeignBytesReachTheDaemonWhole() {
        let socket = folder.path("bytes.sock")
        let daemon = daemon(socket)
        let script = "cd \(folder.path) && exec \"$0\" add ./a.flac \"$(printf 'caf\\351')\""
        let outcome = Tool.run(["-c", script, Tool.program], socket: socket, environment: ["PROGRAM": "/bin/sh"])
        #expect(outcome.status == 0, "\(outcome.complaint)")
        #expect(daemon.requests == [#"queue.add {"items":["\#(folder.path)/a.flac","file://\#(folder.path)/caf%E9"]}"#])
    }
}
