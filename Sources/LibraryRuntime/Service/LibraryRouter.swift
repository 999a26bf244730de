package import ControlProtocol
package import ControlServer
package import LinuxSystem
import NowPlaying
import TrackDatabase

/// Routes the requests of clients to the parts of the library.
@PlayerLoop package final class LibraryRouter: RequestHandler {
    private let views: LibraryViews
    private let events: ChangeEvents
    private let pool: ReaderPool
    /// A reader for quick queries, which never wait for a long one.
    private let quick: ReaderPool
    private let rest: ReaderRest
    private let daemonSide: DaemonSide
    private let scans: ScanDesk
    private let loudness: LoudnessDesk
    private let instance: String
    private let statusWorkers: Workers
    private let comments: CommentDesk

    /// A router to these parts. `quick` has a reader of its own; `instance` names the database, at random.
    package init(
        _ loop: EventLoop, _ views: LibraryViews, _ events: ChangeEvents, _ pool: ReaderPool, quick: ReaderPool,
        _ rest: ReaderRest,
        _ daemonSide: DaemonSide, _ scans: ScanDesk, _ loudness: LoudnessDesk, instance: String
    ) {
        self.loudness = loudness
        self.views = views
        self.events = events
        self.pool = pool
        self.quick = quick
        self.rest = rest
        self.daemonSide = daemonSide
        self.scans = scans
        self.instance = instance
        comments = CommentDesk(views)
        statusWorkers = Workers(loop, name: "status")
    }

    package func greeting(for role: Role) -> JSONValue { Self.greeting(instance, role) }

    /// The answer of `hello`; `instance` names the run.
    static func greeting(_ instance: String, _ role: Role) -> JSONValue {
        [
            "server": "nowplaying-library", "version": .string(Product.version), "protocol": 1,
            "instance": .string(instance), "role": .string(role.rawValue), "capabilities": ["library": true],
        ]
    }

    package func role(for method: Method, _ parameters: JSONObject) -> Role { method.role }

    package func plan(_ request: JudgedRequest) throws(RPCError) -> RequestPlan {
        guard let name = LibraryMethodName(rawValue: request.method) else {
            throw LibraryCatalogue.table.unknownMethod(request.method)
        }
        let (parameters, isForeign) = (request.parameters, request.rights.isForeign)
        switch name {
        case .libraryStatus: return status(request)
        case .librarySubscribe: return subscribe(request)
        case .libraryUnsubscribe:
            return .perform { client, answer in
                client.subscribe(nil)
                answer(.success([:]))
            }
        case .libraryUpdate: return try update(parameters, isForeign: isForeign)
        case .libraryLoudness: return try measuring(parameters, isForeign: isForeign)
        case .libraryQuery where parameters["lines"] != nil:
            return answer(request) { methods throws(TrackDatabaseError) in .text(try methods.text(parameters)) }
        case .libraryQuery:
            return read(request) { methods throws(TrackDatabaseError) in try methods.query(parameters) }
        case .libraryCount:
            return read(request) { methods throws(TrackDatabaseError) in try methods.count(parameters) }
        case .libraryValues:
            return read(request) { methods throws(TrackDatabaseError) in try methods.values(parameters) }
        case .libraryGet where parameters["lines"] != nil:
            return answer(request) { methods throws(TrackDatabaseError) in .text(try methods.textOfFiles(parameters)) }
        case .libraryGet:
            return read(request) { methods throws(TrackDatabaseError) in try methods.get(parameters) }
        case .librarySearch:
            let lists = daemonSide.named
            return read(request) { methods throws(TrackDatabaseError) in
                try methods.search(parameters, saved: lists.all)
            }
        case .libraryBrowse:
            return read(request) { methods throws(TrackDatabaseError) in try methods.browse(parameters) }
        case .libraryComments: return comments.get(request)
        case .libraryAdd, .libraryArtwork, .listsList, .listsGet, .listsSave, .listsEdit, .listsRename, .listsDelete:
            rest.used()
            return try daemonSide.plan(name, request)
        case .hello, .rpcDiscover: throw LibraryCatalogue.table.unknownMethod(request.method)
        }
    }

    /// A request that a reader answers with JSON; nil: its folder does not exist.
    private func read(
        _ request: JudgedRequest,
        _ body: @escaping @Sendable (ReadingMethods) throws(TrackDatabaseError) -> [UInt8]?
    ) -> RequestPlan {
        answer(request) { methods throws(TrackDatabaseError) in try body(methods).map { .json($0) } }
    }

    /// A request that a reader answers; nil: its folder does not exist.
    private func answer(
        _ request: JudgedRequest,
        _ body: @escaping @Sendable (ReadingMethods) throws(TrackDatabaseError) -> ReadAnswer?
    ) -> RequestPlan {
        rest.used()
        let (view, pool, user) = (views.view(isForeign: request.rights.isForeign), pool, request.user)
        return .prepare { _, abandoned in
            if abandoned.isSet { return .failure(.commandFailed(.abandoned, "the client disconnected")) }
            do throws(TrackDatabaseError) {
                let answer = try pool.read(for: user, showing: view.visible) { reader throws(TrackDatabaseError) in
                    try body(ReadingMethods(reader, view))
                }
                guard let answer else {
                    return .failure(.noSuchContent("there is no such folder in the library, or none that you may see"))
                }
                return answer.result.map { result in { _, done in done(result) } }
            } catch {
                return .failure(RPCError(error))
            }
        }
    }

    /// `library.status`. It has threads of its own, so that waiting queries never delay it.
    private func status(_ request: JudgedRequest) -> RequestPlan {
        let status = statusReading(request)
        // The counts for a foreign user take longer.
        guard !request.rights.isForeign else {
            return .prepare { [daemonSide] _, _ in
                status().map { found in { _, answer in answer(.success(daemonSide.added(to: found))) } }
            }
        }
        return .perform { [daemonSide, statusWorkers] _, answer in
            statusWorkers.submit(status) { result in
                switch result {
                case .success(let found): answer(.success(daemonSide.added(to: found)))
                case .failure(let error): answer(.failure(error))
                }
            }
        }
    }

    /// `library.subscribe`: the events begin right before the answer.
    private func subscribe(_ request: JudgedRequest) -> RequestPlan {
        let status = statusReading(request)
        let subscription = ChangeEvents.subscription(isForeign: request.rights.isForeign)
        return .prepare { [daemonSide] _, _ in
            status().map { found in
                { client, answer in
                    client.subscribe(subscription)
                    answer(.success(daemonSide.added(to: found)))
                }
            }
        }
    }

    /// Reads the status of the library for a client; it blocks.
    private func statusReading(_ request: JudgedRequest) -> @Sendable () -> Result<JSONValue, RPCError> {
        rest.used()
        let view = views.view(isForeign: request.rights.isForeign)
        let (pool, user, report) = (request.rights.isForeign ? pool : quick, request.user, scans.report)
        let loudness = view.visible == nil ? loudness.report : nil
        return {
            do throws(TrackDatabaseError) {
                return .success(
                    try pool.read(for: user, showing: view.visible) { reader throws(TrackDatabaseError) in
                        LibraryStatus(
                            view: view, summary: try reader.summary(), report: report, faults: try reader.faults(),
                            faultCount: try reader.faultCount(), loudness: loudness
                        ).answer
                    })
            } catch {
                return .failure(RPCError(error))
            }
        }
    }

    /// Starts a scan of a file, a folder or the whole library.
    private func update(_ parameters: JSONObject, isForeign: Bool) throws(RPCError) -> RequestPlan {
        let view = views.view(isForeign: isForeign)
        var path: FilePath?
        if let uri = parameters["uri"]?.stringValue {
            guard let place = view.place(of: uri), view.shows(place), let found = view.path(of: place) else {
                throw .noSuchContent("this lies in no folder of the library, or in none that you may see: \(uri)")
            }
            path = found
        }
        return .perform { [scans] _, answer in
            scans.update(path)
            answer(.success(["started": true]))
        }
    }

    /// Answers the state of the measuring of loudness; `paused` changes it before.
    private func measuring(_ parameters: JSONObject, isForeign: Bool) throws(RPCError) -> RequestPlan {
        let view = views.view(isForeign: isForeign)
        guard view.visible == nil else {
            throw .denied("the loudness of all tracks is for those who may see all tracks")
        }
        return .perform { [loudness] _, answer in
            guard let isPaused = parameters["paused"]?.boolValue else {
                return answer(.success(loudness.report.json(view)))
            }
            if !isPaused, loudness.isForbidden {
                let words = "the configuration forbids it: set measure-loudness in [library] to yes, and reload"
                return answer(.failure(.commandFailed(.unavailable, words)))
            }
            loudness.setPaused(isPaused) { error in
                answer(error.map { .failure(RPCError($0)) } ?? .success(loudness.report.json(view)))
            }
        }
    }

    package func clientGone(_ client: ClientIdentity) {}

    package func hasSubject(_ name: String) -> Bool { name == LibraryCatalogue.libraryChanged }

    package func clientCountChanged() {}
}
