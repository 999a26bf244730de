import ConfigurationFiles
import DaemonConfiguration
import DaemonRuntime
import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite struct ConfigurationTests {
    private static func parse(_ text: String) throws(ConfigurationError) -> Configuration {
        var contents = ConfigurationFile.Contents()
        try ConfigurationFile.parse(Array(text.utf8), named: "f.conf", into: &contents)
        return contents.configuration
    }

    private static func faults(_ text: String) -> [String] {
        do throws(ConfigurationError) {
            _ = try parse(text)
            return []
        } catch {
            return error.messages
        }
    }

    @Test func everySettingIsTaken() throws {
        let configuration = try Self.parse(
            """
            # comment
            [daemon]
            socket = /run/x.sock
            state-directory = /var/lib/x
            log-level = debug
            [access]
            control-group = audio
            remote-group = remotes
            read-group = 100
            media-roots = /srv/music
              /srv/more music
            ; comment
            [output]
            output = file:/tmp/out.wav
            sink = alsa:1
            [playback]
            failures-before-stop = 7
            forward-intervals = 10, 30.5
            backward-intervals = 5
            """)
        var expected = Configuration()
        expected.socket = "/run/x.sock"
        expected.stateDirectory = "/var/lib/x"
        expected.logLevel = .debug
        expected.controlGroup = "audio"
        expected.remoteGroup = "remotes"
        expected.readGroup = "100"
        expected.mediaRoots = ["/srv/music", "/srv/more music"]
        expected.output = .file("/tmp/out.wav")
        expected.sink = "alsa:1"
        expected.failuresBeforeStop = 7
        expected.forwardIntervals = [10, 30.5]
        expected.backwardIntervals = [5]
        #expect(configuration == expected)
    }

    @Test(arguments: [
        (
            "[daemon]\nlog-level = loud\n",
            "f.conf:2: invalid value “loud” for “log-level” in [daemon] (expected one of error, warning, info, debug)"
        ),
        ("\n\n[daemon]\nsockt = /a\n", "f.conf:4: unknown setting “sockt” in [daemon]; did you mean “socket”?"),
        ("[output]\nsocket = /a\n", "f.conf:2: “socket” belongs in the section [daemon]"),
        ("socket = /a\n", "f.conf:1: “socket” belongs in the section [daemon]"),
        (
            "[sound]\n",
            "f.conf:1: unknown section [sound]; sections are "
                + "[daemon], [access], [media], [output], [outputs], [playback], [kinds], [announcements], [sessions], [artwork], "
                + "[network]"
        ),
        ("[daemon]\nhello\n", "f.conf:2: neither “[section]” nor “name = value”"),
        ("[daemon\n", "f.conf:1: neither “[section]” nor “name = value”"),
        (
            "[output]\noutput = alsa\n",
            "f.conf:2: invalid value “alsa” for “output” in [output] (expected pulse, null, pipe:PATH[,RATE:BITS:CHANNELS], snapcast:HOST[:PORT][,RATE:BITS:CHANNELS], file:PATH[,RATE:BITS:CHANNELS] or -[,RATE:BITS:CHANNELS])"
        ),
        (
            "[output]\noutput = file:\n",
            "f.conf:2: invalid value “file:” for “output” in [output] (expected pulse, null, pipe:PATH[,RATE:BITS:CHANNELS], snapcast:HOST[:PORT][,RATE:BITS:CHANNELS], file:PATH[,RATE:BITS:CHANNELS] or -[,RATE:BITS:CHANNELS])"
        ),
        (
            "[playback]\nfailures-before-stop = 0\n",
            "f.conf:2: invalid value “0” for “failures-before-stop” in [playback] "
                + "(expected a whole number from 1 to 1000)"
        ),
        (
            "[playback]\nforward-intervals = 15,\n",
            "f.conf:2: invalid value “15,” for “forward-intervals” in [playback] "
                + "(expected seconds above 0, separated by commas)"
        ),
        (
            "[access]\nmedia-roots = music\n",
            "f.conf:2: invalid value “music” for “media-roots” in [access] (expected absolute paths, one per line)"
        ),
        (
            "[daemon]\nsink\u{1b}x = 1\n",
            "f.conf:2: unknown setting “sink\\u{1b}x” in [daemon]"
        ),
    ])
    func faultsNameFileAndLine(_ text: String, _ expected: String) {
        #expect(Self.faults(text) == [expected])
    }

    @Test func linesThatAreNotText() {
        var configuration = ConfigurationFile.Contents()
        let long = "[daemon]\nsocket = /" + String(repeating: "a", count: 300) + "\nlog-level = debug\n"
        #expect(Self.faults(long) == ["f.conf:2: the line has more than 197 bytes"])
        #expect(throws: ConfigurationError(messages: ["f.conf:1: the line is not UTF-8"])) {
            try ConfigurationFile.parse([0xff, 0x0a], named: "f.conf", into: &configuration)
        }
    }

    @Test func files() throws {
        let folder = TemporaryFolder()
        let path = folder.file("a.conf", "[daemon]\r\nlog-level = warning")
        #expect(try ConfigurationFile.load(path).logLevel == .warning)
        #expect(throws: ConfigurationError.self) { try ConfigurationFile.load(folder.path + "/missing.conf") }
        #expect(throws: ConfigurationError.self) { try ConfigurationFile.load(folder.path) }
    }

    @Test func optionsWinOverTheConfiguration() throws {
        let options = try DaemonOptions(["--log-level=error", "--output", "file:/a=b", "--socket", "/s"])
        var configuration = Configuration()
        configuration.socket = "/t"
        configuration.sink = "x"
        let result = options.applied(to: configuration)
        #expect(result.logLevel == .error)
        #expect(result.output == .file("/a=b"))
        #expect(result.socket == "/s")
        #expect(result.sink == "x")
    }

    @Test(arguments: [
        ["--sockt", "x"], ["--socket"], ["x"], ["--version=1"], ["--output", "alsa"], ["--log-level", "9"], ["-x"],
        ["--"],
    ])
    func wrongOptions(_ arguments: [String]) {
        #expect(throws: DaemonOptions.UsageError.self) { try DaemonOptions(arguments) }
    }

    @Test func usualPaths() throws {
        func paths(_ uid: UInt32, _ environment: [String: String]) throws -> DaemonPaths {
            try DaemonPaths(Configuration(), uid: uid) { environment[$0] }
        }
        let user = try paths(1000, ["XDG_RUNTIME_DIR": "/run/user/1000", "HOME": "/home/u"])
        #expect(user.socket == "/run/user/1000/nowplayingd/control.sock")
        #expect(user.stateDirectory == "/home/u/.local/state/nowplayingd")
        let system = try paths(0, ["HOME": "/root"])
        #expect(system.socket == "/run/nowplayingd/control.sock")
        #expect(system.stateDirectory == "/var/lib/nowplayingd")
        let service = try paths(990, ["RUNTIME_DIRECTORY": "/run/np", "STATE_DIRECTORY": "/var/lib/np"])
        #expect(service.socket == "/run/np/control.sock")
        #expect(service.stateDirectory == "/var/lib/np")
        #expect(throws: DaemonFailure.self) { _ = try paths(4_000_000, [:]) }
        // A socket that somebody hands over needs no place.
        let handed = try DaemonPaths(Configuration(), uid: 1000, handedSocket: "/run/it/s") {
            $0 == "HOME" ? "/home/u" : nil
        }
        #expect(handed.socket == "/run/it/s")
    }
}

/// Several files, and the changes after a reload.
@Suite struct ConfigurationFilesTests {
    @Test func dropInsComeLast() throws {
        let system = TemporaryFolder()
        let user = TemporaryFolder()
        for folder in [system, user] { mkdir(folder.path + "/nowplayingd.conf.d", 0o755) }
        for (folder, name) in [
            (system, "nowplayingd.conf.d/20-b.conf"), (system, "nowplayingd.conf.d/10-a.conf"),
            (system, "nowplayingd.conf.d/.hidden.conf"), (system, "nowplayingd.conf.d/10-a.conf.bak"),
            (user, "nowplayingd.conf.d/05.conf"),
        ] { _ = folder.file(name, "") }
        #expect(
            INIFile.paths(inFolders: [system.path, user.path]) == [
                system.path + "/nowplayingd.conf", user.path + "/nowplayingd.conf",
                system.path + "/nowplayingd.conf.d/10-a.conf", system.path + "/nowplayingd.conf.d/20-b.conf",
                user.path + "/nowplayingd.conf.d/05.conf",
            ])
    }

    @Test func changesAreFound() throws {
        func contents(_ text: String) throws -> ConfigurationFile.Contents {
            var contents = ConfigurationFile.Contents()
            try ConfigurationFile.parse(Array(text.utf8), named: "f.conf", into: &contents)
            return contents
        }
        let before = try contents("[daemon]\nlog-level = info\n[access]\nmedia-roots = /a\n /b\n")
        let after = try contents("[daemon]\nlog-level = debug\n[output]\nsink = x\n[access]\nmedia-roots = /a\n /b\n")
        #expect(before.changes(to: after).map(\.name) == ["log-level", "sink"])
        #expect(before.changes(to: before).isEmpty)
        #expect(before.changes(to: try contents("")).map(\.name) == ["log-level", "media-roots"])
        var both = before
        try ConfigurationFile.parse(Array("[access]\nmedia-roots = /c\n".utf8), named: "later", into: &both)
        #expect(both.written["access.media-roots"] == ["/c"] && both.configuration.mediaRoots == ["/c"])
    }

    @Test("a setting with one value a line: those of a later file replace those of an earlier one")
    func listsOfLaterFiles() throws {
        for setting in Setting.all where setting.takes.hasSuffix("one a line") {
            func value(_ texts: [String]) throws -> Configuration {
                var contents = ConfigurationFile.Contents()
                for text in texts {
                    let file = "[\(setting.section)]\n\(setting.name) = \(text)\n  \(text)/more\n"
                    try ConfigurationFile.parse(Array(file.utf8), named: "f.conf", into: &contents)
                }
                return contents.configuration
            }
            #expect(try value(["/a", "/b"]) == value(["/b"]), "\(setting.name)")
            #expect(try value(["/a"]) != value(["/b"]), "\(setting.name)")
        }
    }

    /// `reloaded` treats each setting as the table states.
    @Test func theTableStatesReloadableSettings() throws {
        for setting in Setting.all {
            var contents = ConfigurationFile.Contents()
            let text = "[\(setting.section)]\n\(setting.name) = \(setting.sample)\n"
            try ConfigurationFile.parse(Array(text.utf8), named: "f.conf", into: &contents)
            let alone = contents.configuration
            guard alone != Configuration() else { continue }
            let taken = Configuration().reloaded(from: alone)
            #expect((taken == alone) == setting.isReloadable, "\(setting.name)")
        }
    }
}
