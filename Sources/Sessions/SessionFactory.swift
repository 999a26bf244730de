import CLinux
import ControlProtocol
import DaemonConfiguration
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine
import StateKeeping
import Synchronization

/// Creates sessions with a queue of their own, each with a player, an output and a folder below the state directory,
/// and saves the list of sessions for the next start.
@PlayerLoop final class SessionFactory {
    private let context: SessionContext
    private let maker: any PlayerMaker
    private let deaths: EarlyDeaths
    private let numbers: ItemNumbers
    private let addedLists: AddedLists
    private let workers: Workers
    private let folder: String
    private var making: Set<String> = []
    /// Closed sessions whose folders still exist, and the calls that wait for their removal.
    private var leaving: [String: [@PlayerLoop () -> Void]] = [:]
    /// The number of the last written list. Its lock keeps an older list from following a newer one.
    private nonisolated static let written = Mutex(0)
    private var lists = 0
    /// Text of the list that was written last or is being written.
    private var last: String?
    /// Lists that are being written.
    private var unwritten = 0
    /// Seconds that the end of the daemon waits for the disk.
    private static let farewell: Int32 = 5

    /// A factory below the state directory.
    init(
        _ context: SessionContext, _ maker: any PlayerMaker, _ deaths: EarlyDeaths, _ numbers: ItemNumbers,
        _ addedLists: AddedLists
    ) {
        self.context = context
        self.maker = maker
        self.deaths = deaths
        self.numbers = numbers
        self.addedLists = addedLists
        folder = context.stateDirectory + "/sessions"
        workers = Workers(context.loop, name: "sessions")
    }

    /// True if a session of this name is being created.
    func isMaking(_ name: String) -> Bool { making.contains(name) }

    /// Number of sessions that are being created.
    var makingCount: Int { making.count }

    /// Creates a session whose states go to `listener`. One without an owner restores the state of an earlier run from
    /// its folder.
    func make(
        _ name: String, _ terms: SessionTerms, owner: Int?, by user: SessionMaker?, _ listener: any StateListener,
        _ done: @escaping @PlayerLoop (Result<LocalSession, RPCError>) -> Void
    ) {
        build(name, terms, owner: owner, by: user, listener) { [self] result in
            guard case .success(let session) = result, let store = session.methods.store else {
                making.remove(name)
                return done(result)
            }
            load([store]) { [self] found in
                // Two sessions that start by themselves would play at once.
                restore(session, found[0], context.configuration.resume == .stopped ? .stopped : .paused)
                making.remove(name)
                done(result)
            }
        }
    }

    private func restore(_ session: LocalSession, _ found: StateStore.Found, _ policy: ResumePolicy) {
        session.methods.restore(found, policy, deaths)
    }

    /// Reads these stores. After it, the items of all sessions have distinct numbers below the limit.
    private func load(_ stores: [StateStore], _ done: @escaping @PlayerLoop ([StateStore.Found]) -> Void) {
        var found: [StateStore.Found?] = Array(repeating: nil, count: stores.count)
        for (index, store) in stores.enumerated() {
            store.load { [numbers, workers] in
                found[index] = $0
                let all = found.compactMap(\.self)
                guard all.count == stores.count else { return }
                numbers.begin(past: all.reduce(into: []) { $0.formUnion($1.blocks) })
                let works = stores.map { $0.renumbering(numbers) }
                guard works.contains(where: { $0 != nil }) else {
                    for store in stores { _ = store.take(nil) }
                    return done(all)
                }
                workers.submit {
                    Self.note(numbers)
                    return works.map { $0?() }
                } _: { renumbered in
                    done(stores.indices.map { stores[$0].take(renumbered[$0]) ?? all[$0] })
                }
            }
        }
    }

    private nonisolated static func note(_ numbers: ItemNumbers) {
        if !numbers.note() { Log.warning("the numbers of items can't be saved: later items may get them again") }
    }

    /// Makes a session that restores nothing yet. It counts as being made.
    private func build(
        _ name: String, _ terms: SessionTerms, owner: Int?, by user: SessionMaker?, _ listener: any StateListener,
        _ done: @escaping @PlayerLoop (Result<LocalSession, RPCError>) -> Void
    ) {
        making.insert(name)
        if case .file = context.configuration.output {
            return done(.failure(.commandFailed(.unavailable, "this output supports one session only")))
        }
        guard leaving[name] == nil else {
            leaving[name]?.append { [self] in build(name, terms, owner: owner, by: user, listener, done) }
            return
        }
        let (folder, own) = (folder, folder + "/" + name)
        workers.submit {
            Self.written.withLock { _ in
                do throws(SystemError) {
                    try Self.makeFolder(folder)
                    try Self.makeFolder(own)
                } catch {
                    Log.warning(
                        "the session “\(name)” can't be saved: \(error.message)",
                        LogFields(.stateNotSaved, session: name))
                }
            }
        } _: { [self] _ in
            let store = owner == nil ? StateStore(context.loop, directory: own, root: context.stateDirectory) : nil
            let methods = maker.makeMethods(session: name, store: store, listener: listener)
            done(.success(LocalSession(name: name, terms: terms, owner: owner, maker: user, methods: methods)))
        }
    }

    /// Closes a session permanently: its folder is removed after the last write, and before another session of its name
    /// is created.
    func end(_ session: LocalSession) {
        let name = session.name
        leaving[name] = []
        let own = folder + "/" + name
        session.methods.abandon { [self] in
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

    // MARK: Restarts

    /// Saves this list of sessions.
    func save(_ sessions: [SavedSession]) {
        lists += 1
        let (number, folder) = (lists, folder)
        let text = sessions.map { $0.line + "\n" }.sorted().joined()
        // A file with the same text is not written again.
        guard text != last else { return }
        last = text
        unwritten += 1
        workers.submit {
            Self.write(text, number, folder)
        } _: { [self] in
            unwritten -= 1
        }
    }

    /// Writes the last list before the daemon ends, if the disk does so in time.
    func finish() {
        guard unwritten > 0, let text = last else { return }
        let (number, folder) = (lists + 1, folder)
        let isWritten = DetachedThread.finish("sessions", within: Self.farewell) { Self.write(text, number, folder) }
        if !isWritten {
            Log.warning(
                "the list of sessions is not saved: the disk did not take it in time", LogFields(.stateNotSaved))
        }
    }

    private nonisolated static func write(_ text: String, _ number: Int, _ folder: String) {
        written.withLock { last in
            guard number > last else { return }
            last = number
            do throws(SystemError) {
                try makeFolder(folder)
                try write(text, folder + "/list")
            } catch {
                Log.warning("the list of sessions can't be saved: \(error.message)", LogFields(.stateNotSaved))
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

    /// Bytes of the list that are read; the longest list has 4 KiB.
    private static let listBytes = 64 << 10

    /// Restores the sessions of an earlier run, `main` and those of the list. `add` gets each of the others. `done`
    /// gets the name of the active one after all are restored; nil: `main`.
    func restore(
        _ main: LocalSession, _ listener: any StateListener, add: @escaping @PlayerLoop (LocalSession) -> Void,
        _ done: @escaping @PlayerLoop (_ active: String?) -> Void
    ) {
        let saved = saved()
        var missing = 1 + saved.count
        var built = [main]
        let ready: @PlayerLoop () -> Void = { [self] in
            missing -= 1
            guard missing == 0 else { return }
            let stores = built.compactMap(\.methods.store)
            load(stores) { [self] found in
                let kept = stores.reduce(into: Set()) { $0.formUnion($1.listNumbers) }
                let others: ResumePolicy = context.configuration.resume == .stopped ? .stopped : .paused
                for (session, found) in zip(built.filter { $0.methods.store != nil }, found) {
                    restore(session, found, session === main ? context.configuration.resume : others)
                    making.remove(session.name)
                    if session !== main { add(session) }
                }
                deaths.restored()
                done(saved.first(where: \.isActive)?.name)
                // The requests that waited have their answers: these wait for the disk.
                context.loop.later { [self] in settle(lists: kept) }
            }
        }
        for session in saved {
            build(session.name, session.terms, owner: nil, by: session.maker, listener) { [self] result in
                if case .success(let session) = result { built.append(session) } else { making.remove(session.name) }
                ready()
            }
        }
        ready()
    }

    /// Notes the first numbers of this run, and removes the lists of earlier runs but for those that a queue has.
    private func settle(lists kept: Set<UInt64>) {
        workers.submit { [numbers, addedLists] in
            Self.note(numbers)
            addedLists.removeOthers(than: kept)
        } _: { _ in
        }
    }

    /// The sessions of an earlier run, up to the limit. Reads one small file, at the start.
    private func saved() -> [SavedSession] {
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
