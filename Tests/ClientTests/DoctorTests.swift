import ControlProtocol
import Foundation
import Glibc
import TestSupport
import Testing

/// `doctor`: each branch of its tree is broken alone, and must be reported.
@Suite(.timeLimit(.minutes(8))) struct DoctorTests {
    private let folder = TemporaryFolder()

    /// Answers of a healthy daemon.
    private static let healthy: [String: JSONValue] = [
        "hello": ["version": "1.2.3", "role": "admin"],
        "nowPlaying.get": Sample.state(),
        "diagnostics.get": [
            // With process id 0, the doctor does not count wakeups, which would take a second each time.
            "daemon": ["version": "1.2.3", "pid": 0, "uid": 0, "uptime": 83],
            "output": ["kind": "pulse"], "mediaRoots": [["path": "/srv/music", "state": "ready"]],
            "decodeProgram": "/usr/libexec/nowplayingd/nowplaying-decode", "seccomp": true,
            "tagsProgram": "/usr/libexec/nowplayingd/nowplaying-tags",
            "artwork": [
                "state": "found", "sources": ["the picture file:///m/cover.jpg"], "failures": [], "advice": [],
            ],
            "state": ["directory": "/var/lib/nowplayingd"], "landlock": true, "clock": ["error": 0.0002], "waiting": [],
        ],
        "session.list": [
            "sessions": [
                ["name": "main", "active": true, "canBecomeActive": true, "external": false, "state": "playing"]
            ]
        ],
        "output.list": [
            "outputs": [
                [
                    "name": "speaker", "description": "Speaker", "state": "running", "default": true, "volume": 0.8,
                    "muted": false,
                ]
            ]
        ],
        "commands.list": ["commands": [["command": "play", "enabled": true]]],
    ]

    /// Findings of a run against a daemon that answers like this, by the names of the checks.
    private func findings(
        _ answers: [String: JSONValue], _ words: [String] = [], failing: [String: String] = [:],
        environment: [String: String] = [:], at path: String? = nil
    ) throws -> (status: Int32, levels: [String: String], text: String) {
        let socket = path ?? folder.path("doctor.sock")
        let daemon = FakeDaemon(socket) { method, _ in
            if let message = failing[method] { return .error(120, message, ["status": "deviceNotFound"]) }
            return answers[method].map { .result($0) } ?? .error(-32601, "there is no method", [:])
        }
        defer { daemon.stop() }
        let outcome = Tool.run(
            ["doctor", "--json"] + words, socket: path == nil ? socket : nil, environment: environment)
        let result = try JSONReader.read(outcome.output)
        var levels: [String: String] = [:]
        for finding in result["findings"]?.arrayValue ?? [] {
            levels[finding["check"]?.stringValue ?? "?"] = finding["level"]?.stringValue
            #expect(finding["found"]?.stringValue?.isEmpty == false)
            if ["warning", "fault"].contains(finding["level"]?.stringValue) {
                #expect(finding["meaning"] != nil || finding["action"] != nil, "\(finding)")
            }
        }
        return (outcome.status, levels, outcome.output)
    }

    /// The value with another one at this path.
    private static func changed(_ value: JSONValue, _ path: ArraySlice<String>, _ new: JSONValue) -> JSONValue {
        guard let name = path.first else { return new }
        if let index = Int(name), case .array(var elements) = value {
            elements[index] = changed(elements[index], path.dropFirst(), new)
            return .array(elements)
        }
        guard case .object(var object) = value else { return new }
        object[name] = changed(object[name] ?? .null, path.dropFirst(), new)
        return .object(object)
    }

    /// Checks that a machine of its own decides.
    private static let hostChecks: Set<String> = ["wakeups"]

    @Test func aHealthyDaemonHasNoFault() throws {
        let result = try findings(Self.healthy)
        #expect(result.status == 0)
        let levels = result.levels.filter { !Self.hostChecks.contains($0.key) }
        #expect(levels.values.allSatisfy { $0 == "ok" }, "\(levels)")
        #expect(
            Set(levels.keys).isSuperset(of: [
                "daemon", "rights", "session", "server", "sink", "volume", "play", "commands", "media", "confinement",
                "clock", "state", "libraries",
            ]))
    }

    @Test(arguments: [("decodeProgram", "confinement"), ("tagsProgram", "titles")])
    func aProgramThatDoesNotStart(key: String, check: String) throws {
        let words = "nowplaying-x: error while loading shared libraries: x.so: cannot open"
        let program = folder.write(Array("#!/bin/sh\necho '\(words)' >&2\nexit 127\n".utf8), "nowplaying-x")
        chmod(program, 0o755)
        var answers = Self.healthy
        answers["diagnostics.get"] = Self.changed(answers["diagnostics.get"] ?? .null, [key], .string(program))
        let result = try findings(answers)
        #expect(result.levels[check] == "fault" && result.status == 1, "\(result.text)")
        #expect(result.text.contains(words) && result.text.contains("sudo apt install lib"), "\(result.text)")
    }

    @Test(arguments: [
        ("hello/role", "\"read\"", "rights", "warning", "403"),
        ("diagnostics.get/output/kind", "\"null\"", "server", "warning", "nothing"),
        ("diagnostics.get/output/kind", "\"file\"", "server", "warning", "files"),
        ("diagnostics.get/output/sink", "\"gone\"", "sink", "fault", "gone"),
        ("output.list/outputs", "[]", "sink", "fault", "no output"),
        ("output.list/outputs/0/name", "\"auto_null\"", "sink", "fault", "dummy"),
        ("output.list/outputs/0/state", "\"suspended\"", "sink", "fault", "pactl suspend-sink speaker 0"),
        ("output.list/outputs/0/muted", "true", "sink", "fault", "pactl set-sink-mute speaker 0"),
        ("output.list/outputs/0/volume", "0", "sink", "fault", "at 0 %"),
        ("nowPlaying.get/muted", "true", "volume", "fault", "nowplayingctl unmute"),
        ("nowPlaying.get/volume", "0", "volume", "fault", "nowplayingctl volume 50"),
        ("nowPlaying.get/state", "\"stalled\"", "play", "fault", "stalled"),
        ("nowPlaying.get/state", "\"interrupted\"", "play", "warning", "held by"),
        ("nowPlaying.get/state", "\"paused\"", "play", "note", "nowplayingctl play"),
        ("nowPlaying.get/error", #"{"uri":"/m/x","message":"cut off","count":2}"#, "item", "warning", "cut off"),
        ("nowPlaying.get/anchor/wallSynced", "false", "clock", "warning", "never set"),
        ("nowPlaying.get/anchor/skew", "0.004", "clock", "warning", "4000 ppm"),
        (
            "commands.list/commands/0", #"{"command":"play","enabled":false,"reason":"bedtime"}"#, "commands", "note",
            "bedtime"
        ),
        ("diagnostics.get/clock/error", "-0.03", "clock", "warning", "off by 30 ms"),
        (
            "diagnostics.get/clock", #"{"error": 0, "jumps": 7, "unsteady": true, "loss": -0.005}"#, "clock", "warning",
            "7 readings did not fit, 5 ms a second"
        ),
        (
            "diagnostics.get/clock", #"{"error": 0, "jumps": 7, "unsteady": true, "loss": 0}"#, "clock", "warning",
            "may be off by 10 ms"
        ),
        (
            "diagnostics.get/clock", #"{"error": -0.1784, "jumps": 7, "unsteady": true, "loss": 0}"#, "clock",
            "warning", "may be off by 178 ms"
        ),
        (
            "diagnostics.get/waiting", #"[{"method":"pause","client":"a remote","pid":5,"seconds":2.54}]"#, "waiting",
            "warning", "pause of a remote (process 5) has waited for 2.5 s"
        ),
        (
            "session.list/sessions/0", #"{"name":"airplay","active":true,"external":true,"state":"playing"}"#,
            "sessions", "note", "nowplayingctl --session main play"
        ),
        (
            "session.list/sessions/0", #"{"name":"airplay","active":true,"external":true,"state":"paused"}"#,
            "sessions", "note", "nowplayingctl session activate main"
        ),
        ("diagnostics.get/mediaRoots", "[]", "media", "note", "media-roots"),
        ("diagnostics.get/mediaRoots/0/state", "\"empty\"", "media", "warning", "not mounted"),
        ("diagnostics.get/mediaRoots/0/state", "\"missing\"", "media", "warning", "does not exist"),
        ("diagnostics.get/mediaRoots/0/state", "\"denied\"", "media", "fault", "cannot read"),
        ("diagnostics.get/mediaRoots/0/state", "\"silent\"", "media", "fault", "hangs"),
        (
            "diagnostics.get/state", #"{"directory":"/var/lib/n","error":"write /var/lib/n/queue: No space"}"#, "state",
            "fault", "df /var/lib/n"
        ),
        (
            "diagnostics.get/state/reports", #"["the saved queue is damaged: it is kept as /s/queue.broken"]"#, "state",
            "warning", "queue.broken"
        ),
        ("diagnostics.get/decodeProgram", "null", "confinement", "warning", "not installed"),
        (
            "diagnostics.get/decodeProgram", "null", "confinement", "warning",
            "the loudness of files without tags is not measured"
        ),
        ("diagnostics.get/seccomp", "false", "confinement", "fault", "tags is not measured"),
        ("diagnostics.get/tagsProgram", "null", "titles", "warning", "not installed"),
        ("diagnostics.get/artwork/state", "\"missing\"", "artwork", "note", "cover.jpg"),
        ("diagnostics.get/artwork/state", "\"placeholder\"", "artwork", "note", "of its own"),
        ("diagnostics.get/artwork/state", "\"searching\"", "artwork", "note", "is looking for"),
        (
            "diagnostics.get/artwork/failures", #"["cannot show the picture x: it is a link that leads elsewhere"]"#,
            "artwork", "warning", "instead of a link"
        ),
        (
            "diagnostics.get/artwork/failures", #"["cannot show the picture x: it has more than 32 MiB"]"#, "artwork",
            "warning", "nothing is resized"
        ),
        ("diagnostics.get/artwork/advice", #"["the film x: it lasts 40 s"]"#, "artwork", "note", "ffmpeg"),
        ("diagnostics.get/artwork/cache", "null", "artwork", "warning", "cache-directory"),
        ("diagnostics.get/seccomp", "false", "confinement", "fault", "CONFIG_SECCOMP_FILTER"),
        ("diagnostics.get/landlock", "false", "confinement", "note", "no Landlock"),
    ])
    func oneThingIsBroken(path: String, value: String, check: String, level: String, words: String) throws {
        var parts = path.split(separator: "/").map(String.init)[...]
        let method = parts.removeFirst()
        var answers = Self.healthy
        answers[method] = Self.changed(try #require(answers[method]), parts, try JSONReader.read(value))
        let result = try findings(answers)
        #expect(result.levels[check] == level, "\(result.text)")
        #expect(result.text.contains(words), "\(result.text)")
        #expect(result.status == (level == "fault" ? 1 : 0))
        for (other, found) in result.levels where other != check && !Self.hostChecks.contains(other) {
            #expect(found == "ok", "\(other): \(result.text)")
        }
    }

    @Test func noServer() throws {
        let result = try findings(Self.healthy, failing: ["output.list": "no sound server answers"])
        #expect(result.levels["server"] == "fault" && result.status == 1)
        #expect(result.text.contains("pulseaudio --start"))
    }

    @Test("a Snapcast server of another format is there, and gets nothing") func otherFormat() throws {
        let query = JSONObject([.init("codec", "pcm"), .init("sampleformat", "44100:16:2")])
        let server = FakeSnapserver(FakeSnapserver.source(query))
        defer { server.stop() }
        var answers = Self.healthy
        let output: JSONValue = ["kind": "snapcast", "address": .string(server.host), "format": "48000:16:2"]
        answers["diagnostics.get"] = Self.changed(answers["diagnostics.get"] ?? .null, ["output"], output)
        let stall = Self.changed(Sample.state(), ["stall"], ["reason": "noServer"])
        answers["nowPlaying.get"] = Self.changed(stall, ["state"], "stalled")
        let result = try findings(answers)
        #expect(result.status == 1 && result.levels["server"] == "fault", "\(result.text)")
        #expect(result.text.contains("sends nothing to the Snapcast server at \(server.host)"), "\(result.text)")
        #expect(result.text.contains("output = snapcast:\(server.host),44100:16:2"), "\(result.text)")
        #expect(!result.text.contains("is not reached"), "\(result.text)")
    }

    /// A path that the daemon cannot write: a file, and a FIFO in a folder that is missing.
    @Test(arguments: [
        (#"{"kind":"file","path":"/nope/x.wav"}"#, "noServer", "the daemon cannot write the file /nope/x.wav"),
        (#"{"kind":"file","path":"/nope/x","format":"48000:16:2"}"#, "noOutput", "the daemon cannot write the file"),
        (#"{"kind":"pipe","path":"/nope/fifo"}"#, "noServer", "the daemon cannot make the FIFO /nope/fifo"),
        (#"{"kind":"pipe","path":"/dev/null"}"#, "noServer", "no program reads the FIFO"),
    ])
    func noPath(output: String, stall: String, words: String) throws {
        var answers = Self.healthy
        answers["nowPlaying.get"] = Sample.state(
            cause: "stall", state: "stalled", rate: 0, changes: ["stall": ["reason": .string(stall)]])
        answers["diagnostics.get"] = Self.changed(
            try #require(answers["diagnostics.get"]), ["output"], try JSONReader.read(output))
        let result = try findings(answers)
        #expect(result.levels["server"] == "fault" && result.text.contains(words), "\(result.text)")
        #expect(!result.text.contains("output = pulse"), "\(result.text)")
    }

    @Test func noDaemon() throws {
        let outcome = Tool.run(["doctor", "--json"], socket: folder.path("nobody.sock"))
        #expect(outcome.status == 8)
        #expect(outcome.output.contains("nobody.sock") && outcome.output.contains("systemctl --user start nowplayingd"))
    }

    /// A user without access to a running daemon: by the socket's modes, and by the daemon's refusal.
    @Test(.enabled(if: canRunAsNobody, "needs root and a toolchain that everybody may read"))
    func notAllowed() throws {
        chmod(folder.path, 0o700)
        let socket = folder.path("closed.sock")
        let daemon = FakeDaemon(socket) { _, _ in .error(403, "this user may not use this daemon", ["status": "denied"])
        }
        defer { daemon.stop() }
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups", Tool.program, "doctor", "--json"]
        let kept = Tool.run(user, socket: socket, environment: ["PROGRAM": "/usr/bin/setpriv"])
        #expect(kept.status == 8 && kept.output.contains(#""check":"rights","level":"fault""#), "\(kept)")
        #expect(kept.output.contains("cannot reach the daemon's socket") && kept.output.contains("sudo "), "\(kept)")
        let denied = Tool.run(["doctor", "--json"], socket: socket)
        #expect(denied.status == 7 && denied.output.contains(#""check":"rights","level":"fault""#), "\(denied)")
        #expect(denied.output.contains("control-group"))
    }

    /// Author of the last pause, which is no longer in the state.
    @Test(arguments: [
        (#"{"client":"a button","pid":7,"seconds":83}"#, "paused, by a button (process 7), 1:23 ago"),
        (#"{"reason":"sleep","seconds":3}"#, "by the sleep timer, 0:03 ago"),
        (#"{"seconds":3}"#, ", by the daemon"),
    ])
    func whoPaused(record: String, words: String) throws {
        var answers = Self.healthy
        answers["nowPlaying.get"] = Sample.state(cause: "volume", state: "paused", rate: 0)
        answers["diagnostics.get"] = Self.changed(
            try #require(answers["diagnostics.get"]), ["lastPause"], try JSONReader.read(record))
        let result = try findings(answers)
        #expect(result.levels["play"] == "note" && result.text.contains(words), "\(result.text)")
    }

    /// The doctor names the holder of an interruption.
    @Test func whoInterrupts() throws {
        var answers = Self.healthy
        answers["nowPlaying.get"] = Sample.state(
            cause: "interruption-began", state: "interrupted", rate: 0,
            changes: ["interruption": ["by": "Linphone", "shouldResume": true]])
        let result = try findings(answers)
        #expect(result.levels["play"] == "warning" && result.text.contains("held by Linphone"), "\(result.text)")
        #expect(result.text.contains("playback resumes when that ends"), "\(result.text)")
    }

    /// An announcement is answered at its end, which is not late.
    @Test func whatIsAnnouncedIsNotLate() throws {
        var answers = Self.healthy
        answers["diagnostics.get"] = Self.changed(
            try #require(answers["diagnostics.get"]), ["waiting"],
            [["method": "announce", "client": "doorbell", "pid": 5, "seconds": 9]])
        #expect(try findings(answers).levels["waiting"] == "ok")
    }

    @Test func anOlderDaemon() throws {
        var answers = Self.healthy
        answers["diagnostics.get"] = nil
        answers["session.list"] = nil
        let result = try findings(answers)
        #expect(result.levels["daemon"] == "warning" && result.status == 0)
    }

    /// The session's daemon ends with the session, unless the user lingers.
    @Test func theSession() throws {
        mkdir(folder.path("nowplayingd"), 0o755)
        let result = try findings(
            Self.healthy, environment: ["XDG_RUNTIME_DIR": folder.path], at: folder.path("nowplayingd/control.sock"))
        let name = String(cString: getpwuid(getuid()).pointee.pw_name)
        let lingers = access("/var/lib/systemd/linger/\(name)", F_OK) == 0
        #expect(result.levels["session"] == (lingers ? "ok" : "note"))
        if !lingers { #expect(result.text.contains("loginctl enable-linger \(name)")) }
    }

    @Test func files() throws {
        var answers = Self.healthy
        let daemon = try #require(answers["diagnostics.get"])
        answers["diagnostics.get"] = Self.changed(
            daemon, ["file"], ["uri": "file:///m/x.flac", "codec": "FLAC", "duration": 83, "durationIsExact": false])
        let good = try findings(answers, ["/m/x.flac"])
        #expect(good.levels["file"] == "ok" && good.text.contains("(estimated)") && good.text.contains("no tags"))
        answers["diagnostics.get"] = Self.changed(
            daemon, ["file"], ["uri": "file:///m/x.flac", "error": "it is a picture\u{1B}[2J"])
        let bad = try findings(answers, ["/m/x.flac"])
        #expect(bad.levels["file"] == "fault" && bad.status == 1)
        #expect(!bad.text.contains("\u{1B}"))
    }

    /// A process that wakes up all the time, and one that never does.
    @Test(arguments: [
        ("while :; do read -t 0.01 < <(:); done", "warning"), ("exec sleep 60", "ok"),
        // Somebody commanded it a moment ago.
        ("for ((i = 0; i < 20; i++)); do read -t 0.01 < <(:); done; exec sleep 60", "ok"),
    ])
    func wakeups(script: String, level: String) throws {
        let process = ChildProgram(
            ["/bin/bash", "-c", script], environment: ["PATH": "/usr/bin:/bin"], outputPath: "/dev/null")
        defer { process.end(by: SIGKILL) }
        var answers = Self.healthy
        answers["diagnostics.get"] = Self.changed(
            try #require(answers["diagnostics.get"]), ["daemon", "pid"], .integer(Int64(process.process)))
        answers["nowPlaying.get"] = Sample.state(state: "paused", rate: 0)
        let result = try findings(answers)
        #expect(result.levels["wakeups"] == level, "\(result.text)")
    }

    /// A second of silence, 8 kHz, 8 bit, one channel.
    private static let wave: [UInt8] = {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 255) } }
        let head = Array("RIFF".utf8) + little(8036, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
        let format = little(1, 2) + little(8000, 4) + little(8000, 4) + little(1, 2) + little(8, 2)
        return head + format + Array("data".utf8) + little(8000, 4) + [UInt8](repeating: 128, count: 8000)
    }()

    /// The real daemon, a real file, a file that is none, and one that is not there.
    @Test func theRealDaemon() throws {
        let daemon = RealDaemon(folder)
        let tune = folder.write(Self.wave, "tune.wav")
        let picture = folder.write(Array("no music at all".utf8), "picture.flac")
        let good = Tool.run(["doctor", tune], socket: daemon.socket)
        #expect(good.status == 0, "\(good.output)\(good.complaint)")
        #expect(good.output.contains("tune.wav plays: PCM, 8 kHz, 1 channels, 0:01"), "\(good.output)")
        #expect(good.output.contains("plays into nothing"))
        let bad = Tool.run(["doctor", picture], socket: daemon.socket)
        #expect(bad.status == 1 && bad.output.contains("picture.flac"))
        let missing = Tool.run(["doctor", folder.path("missing.flac")], socket: daemon.socket)
        #expect(missing.status == 1 && missing.output.contains("missing.flac"), "\(missing.output)")
    }
}
