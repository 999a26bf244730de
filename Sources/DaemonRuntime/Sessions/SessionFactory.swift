import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine
import Synchronization

/// Makes sessions with a queue of their own, each with a player, an output and a folder of its own below the state
/// directory, and remembers over restarts which there are.
@PlayerLoop final class SessionFactory {
    /// Receiver of a session's states.
    var publish: @PlayerLoop (NowPlayingState) -> Void = { _ in }
    /// First number for what external sessions play.
    let firstExternalItem: Int64

    private let context: DaemonContext
    private let events: EventCounter
    private let database: FeedbackDatabase
    private let deaths: EarlyDeaths
    private let workers: Workers
    private let folder: String
    private var making: Set<String> = []
    /// Sessions that were closed and whose folders are not gone yet, and what waits for that.
    private var leaving: [String: [@PlayerLoop () -> Void]] = [:]
    /// One list is written at a time, and never an older one after a newer.
    private nonisolated static let written = Mutex(0)
    private var lists = 0
    /// Last written text, or the one being written.
    private var last: String?
    /// Lists that are on their way.
    private var unwritten = 0
    /// Seconds that the end of the daemon waits for the disk.
    private static let farewell: Int32 = 5

    /// A factory below this state directory.
    init(
        _ context: DaemonContext, _ events: EventCounter, _ database: FeedbackDatabase, _ deaths: EarlyDeaths,
        firstExternalItem: Int64
    ) {
        self.context = context
        self.events = events
        self.database = database
        self.deaths = deaths
        self.firstExternalItem = firstExternalItem
        folder = context.stateDirectory + "/sessions"
        workers = Workers(context.loop, name: "sessions")
    }

    /// True if a session of this name is being made.
    func isMaking(_ name: String) -> Bool { making.contains(name) }

    /// Sessions that are being made.
    var makingCount: Int { making.count }

    /// Makes a session. One without an owner takes up what an earlier run left in its folder.
    func make(
        _ name: String, _ terms: SessionTerms, owner: Int?, maker: SessionMaker?,
        _ done: @escaping @PlayerLoop (Result<LocalSession, RPCError>) -> Void
    ) {
        if case .file = context.configuration.output {
            return done(.failure(.commandFailed(.unavailable, "this output supports one session only")))
        }
        making.insert(name)
        guard leaving[name] == nil else {
            leaving[name]?.append { [self] in make(name, terms, owner: owner, maker: maker, done) }
            return
        }
        let (folder, own, state) = (folder, folder + "/" + name, context.stateDirectory)
        workers.submit {
            Self.written.withLock { _ in
                do throws(SystemError) {
                    try Self.makeFolder(folder)
                    try Self.makeFolder(own)
                } catch {
                    Log.warning("the session “\(name)” can't be saved: \(error.message)")
                }
                return ItemNumbers.reserve(stateDirectory: state)
            }
        } _: { [self] first in
            let store = owner == nil ? StateStore(context.loop, directory: own) : nil
            let methods = PlayerAssembly.makeMethods(
                context, PlayerAssembly.makeOutput(context.loop, context.configuration), session: name, events,
                firstItem: first, store: store, database, publish: publish)
            let session = LocalSession(name: name, terms: terms, owner: owner, maker: maker, methods: methods)
            session.onClosed = { [weak self] in self?.end(name, methods) }
            let finish: @PlayerLoop () -> Void = { [self] in
                making.remove(name)
                done(.success(session))
            }
            guard let store else { return finish() }
            store.load { [context, deaths] found in
                // Two that begin by themselves would be heard at once.
                methods.restore(found, context.configuration.resume == .stopped ? .stopped : .paused, deaths)
                finish()
            }
        }
    }

    /// Ends a session for good: its folder goes when nothing is written there any more, and before another of its name is made.
    private func end(_ name: String, _ methods: PlayerMethods) {
        leaving[name] = []
        let own = folder + "/" + name
        methods.abandon { [self] in
            workers.submit {
                Self.remove(own)
            } _: { [self] in
                for next in leaving.removeValue(forKey: name) ?? [] { next() }
            }
        }
    }

    private nonisolated static func remove(_ folder: String) {
        guard let stream = opendir(folder) else {
            if errno != ENOENT { Log.warning(SystemError("read the folder \(folder)").message) }
            return
        }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            let path = folder + "/" + name
            if unlink(path) != 0 { Log.warning(SystemError("remove \(path)").message) }
        }
        closedir(stream)
        if rmdir(folder) != 0 { Log.warning(SystemError("remove the folder \(folder)").message) }
    }

    // MARK: Over restarts

    /// Remembers these.
    func save(_ sessions: [SavedSession]) {
        lists += 1
        let (number, folder) = (lists, folder)
        let text = sessions.map { $0.line + "\n" }.sorted().joined()
        // What is there already is not written again.
        guard text != last else { return }
        last = text
        unwritten += 1
        workers.submit {
            Self.write(text, number, folder)
        } _: { [self] in
            unwritten -= 1
        }
    }

    /// The daemon ends: what is on its way is written, or the disk is too slow.
    func finish() {
        guard unwritten > 0, let text = last else { return }
        let (number, folder) = (lists + 1, folder)
        let isWritten = DetachedThread.finish("sessions", within: Self.farewell) { Self.write(text, number, folder) }
        if !isWritten { Log.warning("the list of sessions is not saved: the disk did not take it in time") }
    }

    private nonisolated static func write(_ text: String, _ number: Int, _ folder: String) {
        written.withLock { last in
            guard number > last else { return }
            last = number
            do throws(SystemError) {
                try makeFolder(folder)
                try write(text, folder + "/list")
            } catch {
                Log.warning("the list of sessions can't be saved: \(error.message)")
            }
        }
    }

    private nonisolated static func write(_ text: String, _ path: String) throws(SystemError) {
        let temporary = path + ".new"
        guard let file = fopen(temporary, "we") else { throw SystemError("create \(temporary)") }
        let bytes = Array(text.utf8)
        let isWritten =
            fwrite(bytes, 1, bytes.count, file) == bytes.count && fflush(file) == 0 && fdatasync(fileno(file)) == 0
        let failure = SystemError("write \(temporary)")
        fclose(file)
        guard isWritten else { throw failure }
        guard rename(temporary, path) == 0 else { throw SystemError("rename \(temporary)") }
    }

    private nonisolated static func makeFolder(_ path: String) throws(SystemError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError("make the folder \(path)") }
    }

    /// Bytes of the list that are read; the longest that is written has 4 KiB.
    private static let listBytes = 64 << 10

    /// The sessions of an earlier run, as many as there may be. A look at one small file, at the start.
    func saved() -> [SavedSession] {
        guard let file = fopen(folder + "/list", "re") else {
            if errno != ENOENT { Log.warning(SystemError("open \(folder)/list").message) }
            return []
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: Self.listBytes)
        let count = fread(&bytes, 1, bytes.count, file)
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        last = text
        return Array(text.split(separator: "\n").compactMap { SavedSession(line: $0) }.prefix(SessionTable.limit))
    }
}
