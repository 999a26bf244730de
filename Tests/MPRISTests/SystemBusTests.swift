import ControlProtocol
import Glibc
import TestSupport
import Testing

/// The bridge on a bus for all users, with the policy of the package: each call is judged by its sender.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0, "only root can be several users, and own a bus for them"))
struct SystemBusTests {
    private let installation = Installation()
    private let track = "objpath:/nowplayingd/track/1"

    /// Somebody that the system knows, in these groups only.
    private func run(_ words: [String], as user: Int = 65_534, groups: String? = nil) -> (status: Int32, text: String) {
        let list = groups.map { "--groups=\($0)" } ?? "--clear-groups"
        let who = ["setpriv", "--reuid=\(user)", "--regid=\(user)", list]
        let all = ["sh", "-c", "exec \"$@\" 2>&1", "sh"] + who + words
        return TestProcess.run(all, environment: installation.environment)
    }

    /// The player's answer; empty after success. (`busctl` hides the texts of refusals.)
    private func call(_ method: String, _ arguments: String..., groups: String? = nil) -> String {
        let name = "org.mpris.MediaPlayer2"
        let place = ["--bus=\(installation.address)", "--print-reply=literal", "--dest=\(name).nowplayingd"]
        let path = ["/org/mpris/MediaPlayer2", "\(name).\(method.contains(".") ? "" : "Player.")\(method)"]
        return run(["dbus-send"] + place + path + arguments, groups: groups).text
    }

    private func status(groups: String?) -> String {
        let words = ["playerctl", "--player=nowplayingd", "status"]
        return run(["env", "DBUS_SYSTEM_BUS_ADDRESS=\(installation.address)"] + words, groups: groups).text
    }

    /// The rules of every system's bus, and the package's policy.
    private func startBus() async {
        var root = #filePath
        for _ in 0..<3 { root = String(root[..<root.lastIndex(of: "/")!]) }
        let rules = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>system</type><listen>unix:path=/nowhere</listen><auth>EXTERNAL</auth>
            <policy context="default">
            <allow user="*"/><deny own="*"/><deny send_type="method_call"/><allow send_type="signal"/>
            <allow send_requested_reply="true" send_type="method_return"/>
            <allow send_requested_reply="true" send_type="error"/>
            <allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/>
            <allow receive_type="signal"/><allow send_destination="org.freedesktop.DBus"/>
            </policy><include>\(root)/etc/dbus/org.mpris.MediaPlayer2.nowplayingd.conf</include></busconfig>
            """
        let path = installation.folder.write(Array(rules.utf8), "bus.conf")
        await installation.startBus(configuration: path)
    }

    /// A bus for all users, and the bridge on it with one group of each role.
    private func start() async {
        let folder = installation.folder
        mkdir(folder.path("media"), 0o755)
        let settings = """
            [access]
            media-roots = \(folder.path("media"))
            [mpris]
            bus = \(installation.address)
            control-group = 62001
            read-group = 62002
            """
        _ = folder.write(Array(settings.utf8), "nowplayingd.conf")
        await startBus()
        await installation.startDaemon()
        await installation.startBridge()
    }

    /// Starts a program of a user that is in these groups only; its output goes into the file `log`.
    private func begin(_ words: [String], log: String, groups: String? = nil) async -> TestProcess {
        let list = groups.map { "--groups=\($0)" } ?? "--clear-groups"
        let who = ["setpriv", "--reuid=65534", "--regid=65534", list]
        let environment = installation.environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": installation.address]) { $1 }
        let all = ["sh", "-c", "exec \"$@\" >\(installation.folder.path(log)) 2>&1", "sh"] + who + words
        return await LoopThread.run { TestProcess(all, environment: environment) }
    }

    private func text(_ log: String) -> String { String(decoding: installation.folder.read(log), as: UTF8.self) }

    /// Sends a signal of root to all; it stands behind everything that the bus has passed on before.
    private func mark(_ name: String) {
        _ = installation.run("busctl", "--address=\(installation.address)", "emit", "/test", "test.Mark", name)
    }

    @Test func signalsReachThoseWhoMayReadAlone() async {
        await start()
        let title = "a-private-title"
        let file = installation.silence("media/\(title).wav")
        #expect(becomes { status(groups: "62002") == "Stopped\n" })
        // playerctl follows a player that has an item from the beginning.
        installation.control("play", installation.silence("media/first.wav"))
        installation.control("pause")
        #expect(becomes { status(groups: "62002") == "Paused\n" })
        // Somebody in no group: he calls in vain, and listens to all that the bus lets him.
        let outsider = await begin(["dbus-monitor", "--address", installation.address], log: "outsider")
        #expect(
            becomes {
                mark("begin")
                return text("outsider").contains("member=begin")
            })
        #expect(call("Play").contains("permission denied"))
        let line = "{{status}} {{title}}"
        let reader = await begin(
            ["playerctl", "--player=nowplayingd", "--follow", "metadata", "--format", line], log: "reader",
            groups: "62002")
        #expect(becomes { text("reader") == "Paused first\n" })
        let monitor = await BusMonitor(installation)
        installation.control("play", file)
        #expect(becomes { text("reader").contains("Playing \(title)\n") }, "\(text("reader"))")
        installation.control("seek", "30")
        installation.control("pause")
        #expect(becomes { text("reader").contains("Paused \(title)\n") }, "\(text("reader"))")
        // The list of tracks is included too after the first request for it.
        let first = "objpath:/org/mpris/MediaPlayer2/TrackList/NoTrack"
        #expect(call("TrackList.AddTrack", "string:" + file, first, "boolean:false", groups: "62001") == "")
        installation.control("add", file)
        let signals = monitor.signals()
        let members = Set(signals.compactMap { $0["member"]?.stringValue })
        #expect(members.isSuperset(of: ["PropertiesChanged", "Seeked"]), "\(members)")
        #expect(signals.allSatisfy { $0["destination"]?.stringValue?.hasPrefix(":") == true })
        mark("end")
        #expect(becomes { text("outsider").contains("member=end") })
        let heard = text("outsider")
        for word in [title, "PropertiesChanged", "Seeked", "TrackAdded", "TrackListReplaced"] {
            #expect(!heard.contains(word), "\(word)\n\(heard)")
        }
        // With the last reader's end nothing is sent any more.
        reader.end()
        #expect(
            becomes {
                installation.control("play")
                installation.control("pause")
                return monitor.signals().isEmpty
            })
        outsider.end()
    }

    @Test func eachCallIsJudgedByItsSender() async {
        await start()
        let folder = installation.folder
        let inside = installation.silence("media/a.wav")
        let outside = installation.silence("b.wav")
        chmod(outside, 0o600)
        #expect(becomes { call("Pause", groups: "62002").contains("can read, but not control") })
        // A user without rights, a user who may read, and a user who may control.
        #expect(call("Play").contains("permission denied"))
        #expect(status(groups: nil) != "Stopped\n")
        #expect(status(groups: "62002") == "Stopped\n")
        #expect(call("OpenUri", "string:" + inside, groups: "62002").contains("can read, but not control"))
        #expect(call("OpenUri", "string:" + inside, groups: "62001") == "")
        #expect(status(groups: "62002") == "Playing\n")
        // The media roots judge the path of the sender, present or not. The bridge's rights never count.
        for name in [outside, folder.path("none.wav"), "/etc/passwd", folder.path("media/../b.wav")] {
            let answer = call("OpenUri", "string:file://" + name, groups: "62001")
            #expect(
                answer.contains("permission denied for “") && answer.contains("other users can play only files"),
                "\(name): \(answer)")
        }
        let answer = call("TrackList.AddTrack", "string:" + outside, track, "boolean:false", groups: "62001")
        #expect(
            answer.contains("permission denied for “") && answer.contains("other users can play only files"),
            "\(answer)")
        #expect(call("Pause", groups: "62001") == "")
        // Root may name any media.
        #expect(installation.playerctl("open", outside) == "")
        #expect(installation.playerctl("metadata", "title") == "b")
        // Nobody else may be the player.
        let ask = ["--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.RequestName"]
        let name = ["string:org.mpris.MediaPlayer2.nowplayingd", "uint32:0"]
        let taken = run(["dbus-send", "--bus=\(installation.address)"] + ask + name).text
        #expect(taken.contains("not allowed to own"), "\(taken)")
    }
}
