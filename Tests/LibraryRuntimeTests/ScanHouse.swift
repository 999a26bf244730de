import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization
import TestSupport
import TrackDatabase

/// The real library with folders of real files, which can be ended and killed. No daemon runs.
final class ScanHouse: Sendable {
    let folder: TemporaryFolder
    private let settings: String
    private let daemonState: String
    private let process = Mutex<TestProcess?>(nil)
    private let started = Mutex(0.0)
    private let player = Mutex<TestProcess?>(nil)

    /// True in the nightly campaigns.
    static let isLong = getenv("NOWPLAYING_NIGHTLY") != nil

    /// A house without processes. `folders`: names of the library's folders in its own, which are made, or absolute paths.
    /// `settings`: more of them for the library. `daemonState`: name of the folder of the daemon's state.
    init(
        _ folders: [String] = ["music"], settings: String = "", daemonState: String = "daemon", isInMemory: Bool = true
    ) {
        let folder = TemporaryFolder(isInMemory: isInMemory)
        self.folder = folder
        let paths = folders.map { $0.hasPrefix("/") ? $0 : folder.folder($0) }
        self.daemonState = folder.folder(daemonState)
        self.settings =
            "[daemon]\nstate-directory = \(self.daemonState)\n[library]\nfolders = "
            + paths.joined(separator: "\n ") + "\n" + settings
    }

    deinit {
        process.withLock { $0?.end() }
        player.withLock { $0?.end() }
    }

    /// Path of the database.
    var database: String { folder.path("state/tracks.db") }
    /// Path of the library's socket.
    var socket: String { folder.path("nowplayingd/library.sock") }
    /// The library's process.
    var library: TestProcess? { process.withLock { $0 } }
    /// Messages of the library so far.
    var log: String { String(decoding: folder.read("log"), as: UTF8.self) }

    /// Starts the library. `wrapper`: words before its command line; `waits`: returns when it answers.
    func start(_ wrapper: [String] = [], waits: Bool = true) async {
        var environment = currentEnvironment()
        environment["XDG_RUNTIME_DIR"] = folder.path
        environment["XDG_CONFIG_HOME"] = folder.path
        environment["HOME"] = folder.path
        let words =
            ["sh", "-c", "log=$1; shift; exec \"$@\" 2>> \"$log\"", "sh", folder.path("log")] + wrapper
            + RealLibrary.command(folder, settings)
        started.withLock { $0 = WallClock.time(of: .now) }
        let made = await LoopThread.run { [environment] in TestProcess(words, environment: environment) }
        process.withLock { $0 = made }
        if waits {
            precondition(TestSupport.becomes { (try? RawClient(socket)) != nil }, "the library did not come up: \(log)")
        }
    }

    /// Path of the daemon's control socket.
    var daemonSocket: String { folder.path("nowplayingd/control.sock") }

    /// Starts a daemon beside the library and returns when it answers.
    func startDaemon() async {
        folder.folder("nowplayingd")
        let words = [
            BuiltProgram.path("nowplayingd"), "--socket", daemonSocket, "--state-directory",
            daemonState, "--output", "null", "--config", folder.file("daemon.conf", ""),
        ]
        let made = await LoopThread.run { TestProcess(words) }
        player.withLock { $0 = made }
        precondition(TestSupport.becomes { (try? RawClient(daemonSocket)) != nil }, "the daemon did not come up")
    }

    /// Nanoseconds of the processor that the library and its readers of tags have had, and those that they waited for it.
    func work() throws -> (computed: Int64, waited: Int64) {
        var sum: (computed: Int64, waited: Int64) = (0, 0)
        for pid in try pids() {
            // With that of threads that have ended.
            sum.computed += ChildProcess.processorTime(of: pid)
            for task in Self.names("/proc/\(pid)/task") {
                let numbers = Self.words("/proc/\(pid)/task/\(task)/schedstat").compactMap { Int64($0) }
                guard numbers.count == 3 else { continue }
                sum.waited += numbers[1]
            }
        }
        return sum
    }

    private func pids() throws -> [Int32] {
        guard let own = library?.pid else { return [] }
        return [own]
            + Self.names("/proc/\(own)/task").flatMap { task in
                Self.words("/proc/\(own)/task/\(task)/children").compactMap { Int32($0) }
            }
    }

    private static func names(_ path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var found: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { found.append(name) }
        }
        return found
    }

    private static func words(_ path: String) -> [Substring] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 4096)
        guard fgets(&line, 4096, file) != nil else { return [] }
        return String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            .split(whereSeparator: \.isWhitespace)
    }

    /// Ends the library by a signal, and returns its exit status.
    @discardableResult func end(_ signal: Int32 = SIGTERM) -> Int32 {
        guard let process = process.withLock({ $0.take() }) else { return -1 }
        process.signal(signal)
        return process.wait()
    }

    // MARK: Questions

    /// The status of the library.
    func status() throws -> JSONValue { try RawClient(socket).call("library.status")["result"] ?? .null }

    /// Returns when this holds for the status, which is asked 50 times a second. False: it never did.
    func reaches(seconds: Double = 60, _ condition: (JSONValue) throws -> Bool) throws -> Bool {
        let client = try RawClient(socket)
        let end = EventLoop.now.advanced(bySeconds: seconds)
        while EventLoop.now < end {
            if try condition(try client.call("library.status")["result"] ?? .null) { return true }
            usleep(20_000)
        }
        return false
    }

    /// Returns when the first scan since the start has ended. False: it never did.
    func hasScanned(seconds: Double = 60) throws -> Bool {
        let begin = started.withLock { $0 }
        return try reaches(seconds: seconds) {
            ($0["lastScan"]?["finished"]?.doubleValue ?? 0) >= begin - 0.001 && !Self.scans($0)
        }
    }

    /// Scans everything now, and returns at its end. False: it never ended.
    func update() throws -> Bool {
        let before = try status()["lastScan"]?["finished"]
        _ = try RawClient(socket).call("library.update")
        return try reaches { $0["lastScan"]?["finished"] != before && !Self.scans($0) }
    }

    private static func scans(_ status: JSONValue) -> Bool {
        ["walk", "read"].contains(status["scan"]?["phase"]?.stringValue ?? "")
    }

    /// The state of a folder of the library: its mode and the reason.
    func root(_ index: Int) throws -> (mode: String, reason: String) {
        let roots = try status()["roots"]?.arrayValue ?? []
        guard roots.indices.contains(index) else { return ("", "") }
        return (roots[index]["mode"]?.stringValue ?? "", roots[index]["reason"]?.stringValue ?? "")
    }

    /// Titles of all tracks by their places; empty for tracks without one.
    func tracks() throws -> [String: String] {
        let client = try RawClient(socket)
        var found: [String: String] = [:]
        var parameters = JSONObject()
        parameters["fields"] = ["path", "title"]
        parameters["limit"] = 10_000
        while true {
            let result = try client.call("library.query", .object(parameters))["result"] ?? .null
            for row in result["rows"]?.arrayValue ?? [] {
                let place = row["path"]?.stringValue ?? ""
                precondition(found.updateValue(row["title"]?.stringValue ?? "", forKey: place) == nil, place)
            }
            guard let next = result["next"] else { return found }
            parameters["after"] = next
        }
    }

    /// Numbers of the tracks in the database by their places, without those that are missing.
    func numbers() throws -> [String: Int64] {
        let reader = try TrackDatabase(path: database).reader()
        var found: [String: Int64] = [:]
        for track in try reader.scan.presentTracks(after: 0, limit: .max) {
            guard let path = try reader.scan.path(of: track.id) else { continue }
            found[String(decoding: path.bytes, as: UTF8.self)] = track.id
        }
        return found
    }

    // MARK: Files

    /// The bytes of a FLAC file with a title.
    static func flac(_ title: String, frames: Int = 64) -> [UInt8] {
        var options = FLACOptions()
        options.blocks = [
            AudioMaterial.vorbisComments(["TITLE=\(title)", "ARTIST=Ann", "ALBUM=Disc"].map { Array($0.utf8) })
        ]
        return AudioMaterial.noise(frames: frames).flac(options)
    }

    /// Writes a FLAC file with a title.
    @discardableResult func track(_ name: String, _ title: String) -> String {
        if let slash = name.lastIndex(of: "/") { folder.folder(String(name[..<slash])) }
        return folder.write(Self.flac(title), name)
    }
}
