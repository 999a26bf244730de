import ControlProtocol
import Glibc
import LinuxSystem
import Synchronization
import TestSupport
import TrackDatabase

@testable import LibraryRuntime

/// The real library and the real daemon over their sockets, with a folder of music and a database that the test fills.
final class LibraryHouse: Sendable {
    let folder: TemporaryFolder
    private let processes = Mutex<[String: TestProcess]>([:])

    /// Gid of the group that may control.
    static let controlGroup = 61_001

    /// A house without processes. `settings`: additions to the configuration of both. `isInMemory`: for very many files.
    init(settings: String = "", isInMemory: Bool = false) {
        folder = TemporaryFolder(isInMemory: isInMemory)
        chmod(folder.path, 0o755)
        for name in ["music", "private", "state", "state/library"] { folder.folder(name) }
        configure(settings)
    }

    /// Writes the configuration anew, with these additions.
    func configure(_ settings: String) {
        folder.file(
            "house.conf",
            """
            [access]
            media-roots = \(folder.path("music"))
            control-group = \(Self.controlGroup)
            [library]
            folders = \(folder.path("music"))
             \(folder.path("private"))
            state-directory = \(folder.path("state/library"))
            scan-interval = 604800

            """ + settings)
    }

    deinit { for process in processes.withLock({ $0.values.map { $0 } }) { process.end() } }

    /// Path of the daemon's control socket.
    var daemonSocket: String { folder.path("control.sock") }
    /// Path of the library's socket.
    var librarySocket: String { folder.path("library.sock") }

    /// Starts the daemon and returns when it answers.
    func startDaemon() async {
        await start("nowplayingd", daemonSocket, Array(Self.daemonCommand(self).dropFirst()))
    }

    /// The daemon's command line.
    static func daemonCommand(_ house: LibraryHouse) -> [String] {
        [
            path(of: "nowplayingd"), "--socket", house.daemonSocket, "--state-directory", house.folder.path("state"),
            "--output", "null", "--config", house.folder.path("house.conf"),
        ]
    }

    /// Starts the library and returns when it answers.
    func startLibrary() async {
        await start(
            "nowplaying-library", librarySocket, ["--socket", daemonSocket, "--config", folder.path("house.conf")])
    }

    private func start(_ program: String, _ socket: String, _ arguments: [String]) async {
        var environment = currentEnvironment()
        environment["XDG_RUNTIME_DIR"] = folder.path
        environment["XDG_CONFIG_HOME"] = folder.path("config")
        environment["XDG_CACHE_HOME"] = folder.path("cache")
        environment["HOME"] = folder.path
        let words = [Self.path(of: program)] + arguments
        let started = await LoopThread.run { [environment] in TestProcess(words, environment: environment) }
        processes.withLock { $0[program] = started }
        precondition(
            becomes { (try? RawClient(socket).call("hello"))?["result"] != nil }, "\(program) did not come up")
    }

    /// A process by its program's name.
    func process(_ program: String) -> TestProcess? { processes.withLock { $0[program] } }

    static func path(of program: String) -> String {
        for candidate in CommandLine.arguments {
            guard let range = candidate.firstRange(of: "/debug/") ?? candidate.firstRange(of: "/release/") else {
                continue
            }
            let path = String(candidate[..<range.upperBound] + program)
            if access(path, X_OK) == 0 { return path }
        }
        preconditionFailure("\(program) was not built beside the tests")
    }

    // MARK: Music

    /// One track of the library and the file of it.
    struct Song {
        /// Place in the library: `music/a.wav`.
        var place: String
        var title: String?
        var artists: [String] = ["An Artist"]
        var album: String? = "An Album"
        var number: Int64? = nil
        var duration: Double? = 1
    }

    /// Makes the files of these songs and puts them into the database, before the library starts.
    func fill(_ songs: [Song], _ more: @escaping @Sendable (TrackBatch) throws(TrackDatabaseError) -> Void = { _ in })
        throws
    {
        let writer = try TrackDatabase(path: folder.path("state/library/tracks.db")).writer()
        var records: [TrackRecord] = []
        for (index, song) in songs.enumerated() {
            let path = folder.path(song.place)
            let isNew = access(path, F_OK) != 0
            if isNew {
                // Feedback belongs to contents, so they differ.
                let seed = UInt64(index + 1)
                let tone = AudioMaterial.noise(frames: 8000, sampleRate: 8000, channels: 1, seed: seed).wave()
                if let slash = song.place.lastIndex(of: "/") { folder.folder(String(song.place[..<slash])) }
                _ = folder.write(tone, song.place)
            }
            var status = stat()
            stat(path, &status)
            var record = TrackRecord(path: TrackPath(song.place))
            record.file = TrackFile(
                size: Int64(status.st_size),
                modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec),
                inode: Int64(status.st_ino))
            record.identity = isNew ? TrackIdentity.of(FilePath(Array(path.utf8)) ?? "") : nil
            record.duration = song.duration
            record.tags[.title] = song.title.map { [$0] }
            record.tags[.artist] = song.artists
            record.tags[.album] = song.album.map { [$0] }
            record.numbers.trackNumber = song.number
            records.append(record)
        }
        let made = records
        try writer.batch { batch throws(TrackDatabaseError) in
            for record in made { try batch.put(record, added: 1) }
            // The tags of these tracks are in no file: no scan may read them again.
            for root in Set(songs.map { $0.place.prefix { $0 != "/" } }) {
                try batch.setNumber(ReadingMark.present(charset: nil), for: ReadingMark.key(Array(root.utf8)))
            }
            try more(batch)
        }
    }

    /// The uri of a file by its place.
    func uri(_ place: String) -> String { "file://" + folder.path(place) }

    /// Titles of the daemon's queue.
    func queue(_ field: String = "title") throws -> [String] {
        let answer = try RawClient(daemonSocket).call("queue.list", ["fields": [.string(field)], "limit": 10_000])
        return answer["result"]?["items"]?.arrayValue?.map { $0[field]?.stringValue ?? "" } ?? []
    }

    // MARK: Other users

    /// Sends lines to the library as another user, a member of the group that may control, and returns the answers.
    func stranger(_ requests: [(method: String, parameters: JSONValue)]) async -> [JSONValue] {
        let lines = requests.enumerated().map { index, request in
            JSONWriter.text([
                "jsonrpc": "2.0", "id": .integer(Int64(index)), "method": .string(request.method),
                "params": request.parameters,
            ])
        }
        let script = "for line; do printf '%s\\n' \"$line\"; done | nc -U -N -w 20 \"$0\""
        let words = [
            "setpriv", "--reuid", "65534", "--regid", "65534", "--groups", "\(Self.controlGroup)", "sh", "-c", script,
            librarySocket,
        ]
        let process = await LoopThread.run { TestProcess(words + lines, output: true) }
        let text = process.readAll()
        process.wait()
        let answers = text.split(separator: "\n").compactMap { try? JSONReader.read(Array($0.utf8)) }
        // Answers may come in another order.
        return answers.sorted { $0["id"]?.integerValue ?? 0 < $1["id"]?.integerValue ?? 0 }
    }
}
