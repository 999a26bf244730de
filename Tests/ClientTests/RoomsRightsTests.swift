import Glibc
import TestSupport
import Testing

@testable import nowplayingctl

/// The commands that give the user of a Snapcast server its rights; they run on files of the test.
@Suite(.timeLimit(.minutes(5))) struct RoomsRightsTests {
    private let folder = TemporaryFolder()
    private static let user = String(cString: getpwuid(getuid()).pointee.pw_name)
    /// A home directory with a name that a shell would take apart.
    private var home: String { folder.path("it's a \"home\" $(id)") }

    init() { mkdir(home, 0o700) }

    /// Rights with this configuration; nil: there is none.
    private func rights(_ text: String? = nil, hasGroup: Bool = true, isMember: Bool = true) -> RoomsRights {
        if let text {
            mkdir(home + "/.config", 0o700)
            let file = fopen(home + "/.config/nowplayingd.conf", "we")!
            fputs(text, file)
            fclose(file)
        }
        return RoomsRights(user: Self.user, home: home, hasGroup: hasGroup, isMember: isMember)
    }

    /// Runs the commands but that for the server's restart, as its owner. Returns the configuration.
    private func run(_ rights: RoomsRights) -> String {
        let commands = rights.commands(allows: true).map { $0.filter { $0 != "sudo" } }
        #expect(commands.last == ["systemctl", "restart", "snapserver"])
        for command in commands.dropLast() {
            let result = TestProcess.run(command, environment: ["PATH": "/usr/bin:/bin"])
            #expect(result.status == 0, "\(command) \(result.text)")
        }
        return TestProcess.run(["cat", rights.file], environment: ["PATH": "/usr/bin:/bin"]).text
    }

    @Test("a new configuration has the one line, and a second run has nothing to do") func new() {
        let first = rights()
        #expect(first.allowsCommands == false && first.commands(allows: false).isEmpty)
        #expect(run(first).split(separator: "\n") == ["[snapcast]", "commands = yes"])
        let second = rights()
        #expect(second.allowsCommands == true && second.commands(allows: true).isEmpty)
    }

    @Test("all other lines, and the folder, stay as a person has them") func keeps() {
        let own = """
            # mine
            [snapcast]
            web-port = 9000
            #commands = maybe
            commands=no
            pictures = no

            [mpris]
            commands = no
            """
        let first = rights(own)
        #expect(first.allowsCommands == false)
        #expect(
            run(first)
                == own.replacing("[snapcast]\n", with: "[snapcast]\ncommands = yes\n").replacing(
                    "commands=no\n", with: ""))
        var status = stat()
        #expect(stat(home + "/.config", &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(rights().allowsCommands == true)
    }

    @Test("a configuration without the section gets it at its end") func appends() {
        #expect(run(rights("[web]\nbind = *:8088")) == "[web]\nbind = *:8088\n[snapcast]\ncommands = yes\n")
    }

    @Test("a right that is there is not given again, and one that nobody asked for is not taken") func present() {
        let allowed = rights("[snapcast]\r\ncommands : yes\r\nweb-port = 9000\r\n")
        #expect(allowed.allowsCommands == true)
        #expect(allowed.commands(allows: true).isEmpty && allowed.commands(allows: false).isEmpty)
        #expect(rights("[mpris]\ncommands = yes\n[snapcast]\n").allowsCommands == false)
        #expect(rights("[snapcast]\ncommands = yes\ncommands = no\n").allowsCommands == false)
    }

    /// Things that the user of the server may put into its own folders.
    enum Trap: CaseIterable { case link, folder, hardFolder, pipe }

    @Test(
        "the commands change no file of others, whatever the user of the server puts into its folders",
        .enabled(if: getuid() == 0, "only root can act as another user"), arguments: Trap.allCases)
    func traps(trap: Trap) throws {
        let other = try #require(getpwnam("nobody")).pointee.pw_uid
        // The home directory is reached by its user.
        chmod(folder.path, 0o755)
        chown(home, other, other)
        chmod(home, 0o755)
        let victim = folder.write(Array("root:x:0:0\n".utf8), "victim")
        let place = home + "/.config"
        switch trap {
        case .link:
            mkdir(place, 0o700)
            symlink(victim, place + "/nowplayingd.conf")
        case .folder:
            mkdir(folder.path("secret"), 0o755)
            symlink(folder.path("secret"), place)
        case .hardFolder: symlink(folder.path("not there"), place)
        case .pipe:
            mkdir(place, 0o700)
            mkfifo(place + "/nowplayingd.conf", 0o600)
        }
        lchown(place, other, other)
        let rights = RoomsRights(user: "nobody", home: home, hasGroup: true, isMember: true)
        #expect(rights.allowsCommands != true)
        let commands = rights.commands(allows: true).dropLast()
        #expect(commands.allSatisfy { $0.starts(with: ["runuser", "-u", "nobody", "--"]) })
        if trap != .pipe {
            let status = commands.map { TestProcess.run($0, environment: ["PATH": "/usr/sbin:/usr/bin:/bin"]).status }
            #expect(status.contains { $0 != 0 }, "\(trap): \(status)")
        }
        #expect(TestProcess.run(["cat", victim]).text == "root:x:0:0\n")
        #expect(
            access(folder.path("secret/nowplayingd.conf"), F_OK) != 0 && access(folder.path("not there"), F_OK) != 0)
    }

    @Test("a missing group is made before its member") func groups() {
        let words = rights(hasGroup: false, isMember: false).commands(allows: false).map { $0.filter { $0 != "sudo" } }
        #expect(
            words == [
                ["groupadd", "--system", "nowplayingd-remote"],
                ["usermod", "--append", "--groups", "nowplayingd-remote", Self.user],
                ["systemctl", "restart", "snapserver"],
            ])
    }
}
