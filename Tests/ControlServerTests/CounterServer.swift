import ControlProtocol
import ControlServer
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport

/// Methods of a server that counts, and has nothing to do with the daemon.
enum CounterCatalogue {
    private static let file = Parameter.required("descriptor", .integer(0...15), "place of an open file")

    static let table = MethodTable(
        title: "counterd",
        methods: [
            .hello, .discovery,
            method("count.get", .read, help: "Answers the count."),
            method("count.add", .control, [.required("by", .integer(1...100), "number to add")], help: "Adds."),
            method("count.reset", .admin, help: "Begins again at 0."),
            method(
                "count.watch", .read, [.optional("kinds", .array(.text, count: 1...4), "only these")], isInBatch: false,
                help: "Sends an event for each change."),
            method(
                "count.follow", .read, [.required("followed", .boolean, "false: no longer")],
                help: "Sends an event for each mark."),
            method("count.addFile", .control, [file], help: "Adds the size of a file."),
            method(
                "count.text", .read, [.required("bytes", .integer(1...1 << 20), "length")], help: "Answers a long text."
            ),
            method(
                "count.late", .read, [.optional("texts", .array(.text, count: 1...9000), "any")],
                help: "Is not answered."),
            method("count.keepFiles", .control, [file], help: "Keeps all files of the line."),
        ],
        notifications: [("count.changed", "The count is another one.")])

    private static func method(
        _ name: String, _ role: Role, _ parameters: [Parameter] = [], isInBatch: Bool = true, help: String
    ) -> Method {
        Method(
            name: name, kind: .server, role: role, parameters: parameters, isRefusedInBatch: !isInBatch, help: help,
            result: "count", example: "{}")
    }
}

/// Counts.
@PlayerLoop final class Counter: RequestHandler {
    let server: ControlServer
    private(set) var count = 0
    /// Names of clients that are gone.
    private(set) var gone: [String] = []
    /// Requests that are not answered.
    private(set) var late: [Answer] = []
    /// Files that stay open.
    private(set) var kept: [OwnedDescriptor] = []

    init(_ server: ControlServer) { self.server = server }

    func greeting(for role: Role) -> JSONValue { ["server": "counterd", "role": .string(role.rawValue)] }

    func role(for method: Method, _ parameters: JSONObject) -> Role {
        // Large steps are the administrator's.
        (parameters["by"]?.integerValue ?? 0) > 50 ? .admin : method.role
    }

    func plan(_ request: JudgedRequest) throws(RPCError) -> RequestPlan {
        let parameters = request.parameters
        switch request.method {
        case "count.get": return .perform { [self] _, answer in answer(result) }
        case "count.add":
            let step = parameters["by"]?.integerValue.map { Int($0) } ?? 0
            return .perform { [self] client, answer in
                guard client.identity.role >= .control else { return answer(.failure(.denied("too late"))) }
                change(to: count + step, "add")
                answer(result)
            }
        case "count.text":
            let text = String(repeating: "x", count: parameters["bytes"]?.integerValue.map { Int($0) } ?? 0)
            return .perform { _, answer in answer(.success(["text": .string(text)])) }
        case "count.late": return .perform { [self] _, answer in late.append(answer) }
        case "count.keepFiles":
            return .prepare { [self] descriptors, _ in
                .success { _, answer in
                    self.kept += descriptors
                    answer(.success(["count": .integer(Int64(descriptors.count))]))
                }
            }
        case "count.reset":
            return .perform { [self] _, answer in
                change(to: 0, "reset")
                answer(result)
            }
        case "count.watch":
            let kinds = parameters["kinds"]?.arrayValue?.compactMap(\.stringValue)
            return .perform { [self] client, answer in
                client.subscribe(Subscription(kinds: kinds.map(Set.init)))
                answer(result)
            }
        case "count.follow":
            return .perform { [self] client, answer in
                client.follow("marks", parameters["followed"] == true)
                answer(result)
            }
        case "count.addFile":
            return .prepare { [self] descriptors, _ in
                let place = parameters["descriptor"]?.integerValue.map { Int($0) } ?? 0
                var status = stat()
                guard descriptors.indices.contains(place), fstat(descriptors[place].number, &status) == 0 else {
                    return .failure(.invalidParameter("descriptor", "no file came with this line"))
                }
                let size = Int(status.st_size)
                return .success { _, answer in
                    self.change(to: self.count + size, "add")
                    answer(self.result)
                }
            }
        default: throw .methodNotFound(request.method)
        }
    }

    func clientGone(_ client: ClientIdentity) { gone.append(client.name) }
    func hasSubject(_ name: String) -> Bool { name == "counter" }
    func clientCountChanged() {}

    private var result: MethodResult { .success(["count": .integer(Int64(count))]) }

    /// Answers the late requests.
    func answerLate() {
        let answers = late
        late = []
        for answer in answers { answer(result) }
    }

    /// Closes the kept files.
    func closeFiles() { kept = [] }

    /// Sets the count, and notifies the subscribers.
    func change(to count: Int, _ kind: String) {
        self.count = count
        var writer = JSONWriter()
        writer.notification(
            "count.changed", parameters: Array(#"{"kind":"\#(kind)","count":\#(count)}"#.utf8))
        writer.newline()
        server.publish(ServerEvent(kind: kind, subject: "counter", reach: .followers, line: writer.bytes))
    }
}

extension Counter {
    /// Sends a mark to the subscribers of the topic.
    func mark(_ number: Int) {
        var writer = JSONWriter()
        writer.notification("count.marked", parameters: Array(#"{"mark":\#(number)}"#.utf8))
        writer.newline()
        server.publish(ServerEvent(kind: "mark", subject: "marks", reach: .topic, line: writer.bytes))
    }
}

/// A counter on a socket of its own, on the loop of the test process.
final class CounterServer: Sendable {
    let folder = TemporaryFolder()
    let path: String
    let server: ControlServer
    let counter: Counter

    init() async throws {
        path = folder.path + "/counter.sock"
        let path = path
        (server, counter) = try await LoopThread.run {
            let server = ControlServer(
                EventLoop.current, listener: try UnixSocket.listen(path), methods: CounterCatalogue.table,
                options: ControlServerOptions(
                    roles: PeerRoles(ownUID: geteuid()), descriptorLimit: DescriptorLimit.raise(to: 4096),
                    version: "7"))
            let counter = Counter(server)
            server.begin(counter)
            return (server, counter)
        }
    }

    /// Ends the server with all connections.
    func end() async {
        let server = server
        await LoopThread.run { server.end() }
    }

    /// Waits until something holds on the loop, looking after each of its turns; false: it did not within a minute.
    func until(_ condition: @escaping @PlayerLoop @Sendable () -> Bool) async -> Bool {
        let end = EventLoop.now.advanced(bySeconds: 60)
        while EventLoop.now < end {
            if await LoopThread.run({ condition() }) { return true }
            await Task.yield()
        }
        return false
    }
}
