import ControlProtocol
import ControlServer
package import LinuxSystem
import NowPlaying
import TrackDatabase

/// Carries out `library.add` and the methods of lists: files and the database on worker threads, the daemon by
/// `DaemonCaller`.
@PlayerLoop package final class ListDesk {
    private let views: LibraryViews
    private let news: ListNews
    private let pool: ReaderPool
    private let rest: ReaderRest
    private let store: ListStore
    private let daemon: DaemonCaller
    private let workers: Workers

    /// A desk with these parts.
    init(
        _ loop: EventLoop, _ views: LibraryViews, _ news: ListNews, _ pool: ReaderPool, _ rest: ReaderRest,
        _ store: ListStore, _ daemon: DaemonCaller
    ) {
        self.views = views
        self.news = news
        self.pool = pool
        self.rest = rest
        self.store = store
        self.daemon = daemon
        workers = Workers(loop, name: "lists")
    }

    /// Runs `body` with a reader for a caller.
    private nonisolated static func read<Value>(
        _ pool: ReaderPool, _ user: UInt32, _ sight: CallerSight, _ store: ListStore,
        _ body: (ListMethods) throws(RPCError) -> Value
    ) throws(RPCError) -> Value {
        let result: Result<Value, RPCError>
        do throws(TrackDatabaseError) {
            result = try pool.read(for: user, showing: sight.view.visible) { reader in
                do throws(RPCError) {
                    return .success(try body(ListMethods(reader: reader, sight: sight, store: store)))
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            throw RPCError(error)
        }
        return try result.get()
    }

    // MARK: Lists

    /// `lists.list`.
    func list(_ request: JudgedRequest) -> RequestPlan {
        reading(request) { methods throws(RPCError) in
            var writer = JSONWriter()
            writer.value(try methods.list())
            return writer.bytes
        }
    }

    /// `lists.get`.
    func get(_ request: JudgedRequest) -> RequestPlan {
        reading(request) { methods throws(RPCError) in try methods.get(request.parameters) }
    }

    private func reading(
        _ request: JudgedRequest, _ body: @escaping @Sendable (ListMethods) throws(RPCError) -> [UInt8]
    ) -> RequestPlan {
        let (pool, store, sight) = (pool, store, views.sight(isForeign: request.rights.isForeign))
        let user = request.user
        return .prepare { _, _ in
            do throws(RPCError) {
                let answer = try Self.read(pool, user, sight, store, body)
                return .success { _, done in done(.encoded(answer)) }
            } catch {
                return .failure(error)
            }
        }
    }

    /// `lists.edit`, `lists.rename`, `lists.delete`, and `lists.save` of items or a filter in the request.
    func change(
        _ request: JudgedRequest,
        _ body: @escaping @Sendable (ListMethods, JSONObject) throws(RPCError) -> ListMethods.Outcome
    ) -> RequestPlan {
        let (pool, store, sight) = (pool, store, views.sight(isForeign: request.rights.isForeign))
        let (parameters, user) = (request.parameters, request.user)
        return .prepare { [weak self] _, _ in
            do throws(RPCError) {
                let outcome = try Self.read(pool, user, sight, store) { methods throws(RPCError) in
                    try body(methods, parameters)
                }
                return .success { [weak self] _, done in
                    self?.publish(outcome)
                    done(.success(outcome.answer))
                }
            } catch {
                return .failure(error)
            }
        }
    }

    private func publish(_ outcome: ListMethods.Outcome) {
        for change in outcome.changes { news.changed(change.name, version: change.version) }
    }

    /// `lists.save`.
    func save(_ request: JudgedRequest) -> RequestPlan {
        guard let session = request.parameters["session"]?.stringValue else {
            return change(request) { (methods, parameters) throws(RPCError) in try methods.save(parameters) }
        }
        let (parameters, user) = (request.parameters, request.user)
        return .perform { [weak self] client, answer in
            guard let self else { return }
            let sight = views.sight(isForeign: client.identity.isForeign)
            let reader = SessionReader(session, sight)
            daemon.work(for: client.identity) { work in
                reader.begin(work) { [weak self] items, leftOut in
                    guard let self else { return }
                    save(items, leftOut, parameters, user, sight, answer)
                }
            } failed: {
                answer(.failure($0))
            }
        }
    }

    private func save(
        _ items: [ListItem], _ leftOut: Int, _ parameters: JSONObject, _ user: UInt32, _ sight: CallerSight,
        _ answer: @escaping Answer
    ) {
        workers.submit { [pool, store] in
            Result { () throws(RPCError) in
                try Self.read(pool, user, sight, store) { methods throws(RPCError) in
                    try methods.save(items, parameters, leftOut: leftOut)
                }
            }
        } _: { [weak self] result in
            switch result {
            case .success(let outcome):
                self?.publish(outcome)
                answer(.success(outcome.answer))
            case .failure(let error): answer(.failure(error))
            }
        }
    }

    // MARK: The queue

    /// Items of an addition in a sealed file, and the number of items that are left out.
    private struct Sealed: Sendable {
        let file: OwnedDescriptor
        let missing: Int
    }

    /// `library.add`.
    func add(_ request: JudgedRequest) -> RequestPlan {
        let (pool, store, sight) = (pool, store, views.sight(isForeign: request.rights.isForeign))
        let (parameters, user) = (request.parameters, request.user)
        return .prepare { [weak self] _, abandoned in
            do throws(RPCError) {
                let sealed = try Self.read(pool, user, sight, store) { methods throws(RPCError) in
                    try Self.collect(parameters, methods, abandoned)
                }
                return .success { [weak self] client, answer in
                    self?.send(sealed, parameters, for: client.identity, answer)
                }
            } catch {
                return .failure(error)
            }
        }
    }

    private nonisolated static func collect(
        _ parameters: JSONObject, _ methods: ListMethods, _ abandoned: AbandonFlag
    ) throws(RPCError) -> Sealed {
        let given = parameters["limit"]?.integerValue.map { Int(clamping: $0) }
        if let text = parameters["list"]?.stringValue {
            let named = try methods.named(text)
            if let items = try methods.items(named) {
                guard parameters["sort"] == nil, parameters["seed"] == nil else {
                    throw .invalidParameter(
                        "sort", "“sort” and “seed” are for filters: this list has an order of its own")
                }
                let addition = try Addition(methods.sight, methods.reader, limit: given, abandoned)
                try addition.add(items)
                return Sealed(file: try addition.sealed(), missing: addition.missing)
            }
            guard case .saved(let list) = named, case .filter(var json) = list.contents else {
                throw RPCError(ListFailure.missing(text))
            }
            if case .object(var object) = json {
                for name in ["sort", "seed"] where parameters[name] != nil { object[name] = parameters[name] }
                json = .object(object)
            }
            return try collect(json, given, methods, abandoned)
        }
        if let uris = parameters["uris"]?.arrayValue {
            var items: [ListItem] = []
            for (index, uri) in uris.enumerated() {
                switch try methods.sight.checked(uri.stringValue ?? "", parameter: "uris[\(index)]") {
                case .file(_, let uri): items.append(ListItem(uri: uri))
                case .address(let address): items.append(ListItem(uri: address))
                case .hidden, .unplayable: break
                }
            }
            let addition = try Addition(methods.sight, methods.reader, limit: given, abandoned)
            try addition.add(items)
            return Sealed(file: try addition.sealed(), missing: addition.missing)
        }
        return try collect(.object(parameters), given, methods, abandoned)
    }

    /// The tracks of a filter in its order; both are members of `json`.
    private nonisolated static func collect(
        _ json: JSONValue, _ limit: Int?, _ methods: ListMethods, _ abandoned: AbandonFlag
    ) throws(RPCError) -> Sealed {
        let smart: SmartList
        do throws(TrackDatabaseError) { smart = try SmartList(json) } catch {
            throw RPCError(error, parameter: "filter")
        }
        let most = [limit, smart.limit].compactMap { $0 }.min()
        let addition = try Addition(methods.sight, methods.reader, limit: most, abandoned)
        try addition.add(smart.query(methods.sight.view))
        return Sealed(file: try addition.sealed(), missing: addition.missing)
    }

    private func send(
        _ sealed: Sealed, _ parameters: JSONObject, for caller: ClientIdentity, _ answer: @escaping Answer
    ) {
        var asked = JSONObject([.init("list", ["descriptor": 0])])
        for name in ["at", "next", "play", "session", "ifVersion"] { asked[name] = parameters[name] }
        daemon.call("queue.add", asked, file: sealed.file, for: caller) { [rest] result in
            // The readers may have gone to rest during the daemon's work.
            rest.used()
            switch result {
            case .success(var value):
                if case .object(var object) = value {
                    // The daemon names the files that have gone since.
                    let missing = Int64(sealed.missing) + (object["missingCount"]?.integerValue ?? 0)
                    object["missing"] = missing > 0 ? .integer(missing) : nil
                    object["missingCount"] = nil
                    value = .object(object)
                }
                answer(.success(value))
            case .failure(let error): answer(.failure(error))
            }
        }
    }
}
