import ControlProtocol
import Glibc
import TestSupport
import Testing

/// A daemon whose configuration a test changes, with two sessions: `main`, and `early`, which is there before the change.
final class ReloadHouse {
    let folder = TemporaryFolder()
    let daemon: RealDaemon
    private(set) var client: Client?
    private let setting: ReloadRow
    private var made = 0

    /// Ends the listening socket over to the daemon, as a service manager does.
    private static let manager = """
        import os, socket, sys
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(sys.argv[1])
        listener.listen(16)
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
        os.execvp(sys.argv[2], sys.argv[2:])
        """

    /// A daemon with the setting as it is before the change.
    init(_ row: ReloadRow) async {
        setting = row
        let path = Self.write(row, row.before, folder)
        mkdir(folder.path("talk"), 0o700)
        daemon = await RealDaemon.start(
            nil, output: "null", in: folder, isLogged: true,
            before: row.isHandedOver ? ["python3", "-c", Self.manager, folder.path("control.sock")] : [],
            ["--config", path])
        let client = daemon.connect()
        self.client = client
        client.call("hello", ["client": "reloader"])
        client.call("session.create", ["name": "early"])
    }

    /// The connection of the test.
    var owner: Client { client ?? daemon.connect() }

    private static func write(_ row: ReloadRow, _ value: String?, _ folder: TemporaryFolder) -> String {
        let place = row.name.split(separator: ".", maxSplits: 1)
        let lines = value.map { "\(place[1]) = \($0.replacing("$FOLDER", with: folder.path))\n" } ?? ""
        let level = row.name == "daemon.log-level" ? "" : "[daemon]\nlog-level = debug\n"
        return folder.write(Array("\(level)\(row.others)[\(place[0])]\n\(lines)".utf8), "conf")
    }

    /// Changes the setting, has the daemon read it by `daemon.reload` or SIGHUP, and makes the session `late`.
    func reload(by way: ReloadRow.Way) {
        _ = Self.write(setting, setting.after, folder)
        let name = JSONValue.string(String(setting.name.split(separator: ".", maxSplits: 1)[1]))
        switch way {
        case .method:
            let changed = owner.call("daemon.reload")?["changed"]
            #expect(changed == [name], "\(setting.name)")
        case .signal:
            let seen = count("configuration reloaded")
            daemon.process.signal(SIGHUP)
            // Where only warnings are logged, the reading itself is not.
            #expect(becomes { count("configuration reloaded") > seen }, "\(setting.name)")
        }
        owner.call("session.create", ["name": "late"])
    }

    /// Closes the connection of the test.
    func leave() { client = nil }

    // MARK: Observations

    /// The log so far.
    var log: String {
        guard let file = fopen(folder.path("log"), "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Lines of the log with these words.
    func lines(_ words: String) -> [Substring] { log.split(separator: "\n").filter { $0.contains(words) } }

    private func count(_ words: String) -> Int { lines(words).count }

    /// The last part of the newest line with these words, behind them; waits for one more than there were before `act`.
    func newest(_ words: String, after act: () -> Void) -> String {
        let before = count(words)
        act()
        guard becomes({ count(words) > before }), let line = lines(words).last else { return "" }
        return String(line[(line.firstRange(of: words)?.upperBound ?? line.endIndex)...])
    }

    /// Puts an item with these fields into a session's queue, and shows it paused at its beginning.
    func show(_ session: String, _ fields: JSONObject = JSONObject(), folder name: String = "", seconds: Double = 60) {
        made += 1
        var item = fields
        item["uri"] = .string(folder.silence("\(name)\(made).wav", seconds: seconds))
        owner.call("queue.clear", ["session": .string(session)])
        owner.call("queue.add", ["session": .string(session), "items": [.object(item)], "play": true])
        awaitSound(of: session)
        owner.call("pause", ["session": .string(session)])
        #expect(becomes { state(session).playing == "paused" }, "\(setting.name): \(session) does not pause")
    }

    /// The active session while a session that makes others quieter begins beside `main`, which sounds.
    func activeBesideMain(_ name: String) -> String {
        owner.call("session.create", ["name": .string(name), "policy": "duck"])
        for session in ["main", name] {
            let file = folder.silence("\(session).wav", seconds: 60)
            owner.call("play", ["session": .string(session), "uri": .string(file)])
            awaitSound(of: session)
        }
        let sessions = owner.call("session.list")?["sessions"]?.arrayValue ?? []
        owner.call("session.close", ["name": .string(name)])
        return sessions.first { $0["active"] == true }?["name"]?.stringValue ?? ""
    }

    /// Waits until a session plays. A command answers after a second at the latest, even if its item is not open then: on a busy
    /// machine, the kind of the item, its identity and its output are not known yet.
    func awaitSound(of session: String) {
        let plays = becomes {
            let state = state(session)
            return state.playing == "playing" && (state["pending"] ?? .null) == .null
        }
        #expect(plays, "\(setting.name): \(session) does not play")
    }

    /// The preferred intervals of a command in a session, as text.
    func intervals(_ command: String, _ session: String) -> String {
        let commands = owner.call("commands.list", ["session": .string(session)])?["commands"]?.arrayValue ?? []
        let found = commands.first { $0["command"]?.stringValue == command }?["preferredIntervals"]?.arrayValue ?? []
        return found.compactMap { $0.doubleValue.map { "\(Int($0))" } }.joined(separator: ",")
    }

    /// The state of a session.
    func state(_ session: String) -> JSONValue {
        owner.call("nowPlaying.get", ["session": .string(session)]) ?? .null
    }

    /// Plays an announcement of so many seconds; the answer.
    @discardableResult func announce(seconds: Double = 0.1) -> JSONValue {
        owner.call("announce", ["uri": .string(folder.silence("words\(seconds).wav", seconds: seconds))]) ?? .null
    }
}
