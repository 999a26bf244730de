import Glibc
import TestSupport
import Testing

/// A real station: Icecast with ffmpeg as its source, heard by the real daemon.
@Suite(
    .enabled(if: House.built("nowplaying-decode") != nil, "nowplaying-decode is not built"), .serialized, .oneAtATime,
    .timeLimit(.minutes(5)))
struct RadioTests {
    private let house = House()
    private let port = String(21_000 + getpid() % 20_000)

    /// A server that root starts changes to the user nobody.
    private static let settings = """
        <icecast><limits><clients>9</clients><sources>2</sources><burst-size>16384</burst-size></limits>
        <authentication><source-password>s</source-password><admin-user>admin</admin-user>
        <admin-password>a</admin-password></authentication><hostname>localhost</hostname>
        <listen-socket><port>PORT</port><bind-address>127.0.0.1</bind-address></listen-socket>
        <paths><basedir>/usr/share/icecast2</basedir><logdir>/tmp</logdir><webroot>/usr/share/icecast2/web</webroot>
        <adminroot>/usr/share/icecast2/admin</adminroot></paths>
        <logging><accesslog>-</accesslog><errorlog>-</errorlog><loglevel>3</loglevel></logging>
        <security><chroot>0</chroot><changeowner><user>nobody</user><group>nogroup</group></changeowner></security>
        </icecast>
        """

    private func startSource() async -> TestProcess {
        await house.start(
            command: [
                "ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "sine", "-c:a", "libmp3lame", "-b:a", "128k",
                "-content_type", "audio/mpeg", "-ice_name", "Kitchen Radio", "-f", "mp3",
                "icecast://source:s@127.0.0.1:\(port)/live",
            ], log: "source.log")
    }

    private func setTitle(_ song: String) async {
        let place = "127.0.0.1:\(port)/admin/metadata?mount=/live&mode=updinfo&song=\(song)"
        let request =
            "import base64,urllib.request as u;u.urlopen(u.Request('http://\(place)',"
            + "headers={'Authorization':'Basic '+base64.b64encode(b'admin:a').decode()})).read()"
        #expect(await house.run(["python3", "-c", request]).status == 0)
    }

    @Test("a station is heard, says what it plays, and comes back when its source does")
    func station() async throws {
        house.write("icecast.xml", Self.settings.replacing("PORT", with: port))
        let server = await house.start(
            command: ["icecast2", "-c", house.folder.path("icecast.xml")], log: "server.log")
        #expect(house.comes("server started", in: "server.log"), "\(house.text("server.log"))")
        let source = await startSource()
        #expect(house.comes("Source logging in", in: "server.log"), "\(house.text("server.log"))")
        let daemon = await house.startDaemon()
        let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"nowPlaying.subscribe"}"#
        let follower = await house.start(
            command: ["sh", "-c", "(echo '\(subscribe)'; sleep 60) | nc -U \(house.socket)"], log: "events")
        #expect(house.comes("snapshot", in: "events"))
        let played = await house.tool("play", "http://somebody:secretword@127.0.0.1:\(port)/live")
        #expect(played.status == 0, "\(played.text)")
        #expect(house.comes(#""title":"Kitchen Radio""#, in: "events"))
        #expect(house.comes(#""isLiveStream":true"#, in: "events"))
        #expect(!house.text("events").contains(#""duration""#))
        let commands = await house.tool("call", "commands.list").text
        for command in ["skipForward", "skipBackward", "changePlaybackPosition", "changePlaybackRate"] {
            #expect(commands.contains(#""command":"\#(command)","enabled":false,"reason":"live stream""#))
        }
        await setTitle("Some+Body+-+First")
        #expect(house.comes(#""title":"First","artist":"Some Body""#, in: "events"))
        source.end()
        #expect(house.comes(#""stall":{"reason":"sourceLate""#, in: "events"))
        let again = await startSource()
        #expect(house.comes(#""cause":"unstall""#, in: "events"))
        for place in ["events", "daemon.log"] { #expect(!house.text(place).contains("secretword")) }
        for method in ["nowPlaying.get", "queue.list", "diagnostics.get"] {
            #expect(!(await house.tool("call", method).text.contains("secretword")))
        }
        for process in [follower, again, daemon, server] { process.end() }
    }
}
