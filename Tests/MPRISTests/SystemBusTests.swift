import Glibc
import TestSupport
import Testing

/// The bridge on a bus for all users, with the policy of the package: each call is judged by its sender.
@Suite(
    .serialized, .timeLimit(.minutes(1)),
    .enabled(if: geteuid() == 0, "only root can be several users, and own a bus for them"))
struct SystemBusTests {
    private let installation = Installation()

    /// Somebody that the system knows, in these groups only.
    private func run(_ words: [String], as user: Int = 65_534, groups: String? = nil) -> (status: Int32, text: String) {
        let list = groups.map { "--groups=\($0)" } ?? "--clear-groups"
        let who = ["setpriv", "--reuid=\(user)", "--regid=\(user)", list]
        let all = ["sh", "-c", "exec \"$@\" 2>&1", "sh"] + who + words
        return TestProcess.run(all, environment: installation.environment)
    }

    /// What the player answers; empty where it has done what it was asked for. (`busctl` hides the words of refusals.)
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

    @Test func eachCallIsJudgedByItsSender() async {
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
        let inside = installation.silence("media/a.wav")
        let outside = installation.silence("b.wav")
        chmod(outside, 0o600)
        await startBus()
        await installation.startDaemon()
        await installation.startBridge()
        #expect(becomes { call("Pause", groups: "62002").contains("may look, but not control") })
        // Nobody in particular, one who looks, one who controls.
        #expect(call("Play").contains("this user may not use the player"))
        #expect(status(groups: nil) != "Stopped\n")
        #expect(status(groups: "62002") == "Stopped\n")
        #expect(call("OpenUri", "string:" + inside, groups: "62002").contains("may look, but not control"))
        #expect(call("OpenUri", "string:" + inside, groups: "62001") == "")
        #expect(status(groups: "62002") == "Playing\n")
        // What the sender names is judged by the media roots, whether it is there or not, and never by the bridge's rights.
        for name in [outside, folder.path("none.wav"), "/etc/passwd", folder.path("media/../b.wav")] {
            let answer = call("OpenUri", "string:file://" + name, groups: "62001")
            #expect(answer.contains("media outside"), "\(name): \(answer)")
        }
        let track = "objpath:/nowplayingd/track/1"
        let answer = call("TrackList.AddTrack", "string:" + outside, track, "boolean:false", groups: "62001")
        #expect(answer.contains("media outside"), "\(answer)")
        #expect(call("Pause", groups: "62001") == "")
        // Root names what it likes.
        #expect(installation.playerctl("open", outside) == "")
        #expect(installation.playerctl("metadata", "title") == "b")
        // Nobody else may be the player.
        let ask = ["--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.RequestName"]
        let name = ["string:org.mpris.MediaPlayer2.nowplayingd", "uint32:0"]
        let taken = run(["dbus-send", "--bus=\(installation.address)"] + ask + name).text
        #expect(taken.contains("not allowed to own"), "\(taken)")
    }
}
