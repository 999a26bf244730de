import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import WebAccess
import WebProtocol

/// JSON-RPC of one caller. Lines go to the daemon, to the library or to the bridge itself, and answers return unchanged.
@PlayerLoop final class CallSession {
    /// Called with each line for the caller, without its end.
    var onLine: (@PlayerLoop ([UInt8]) -> Void)?
    /// Called once when the daemon has gone, or has refused the caller.
    var onEnd: (@PlayerLoop (RPCError) -> Void)?
    /// Called when the session takes the caller's lines again.
    var onDrain: (@PlayerLoop () -> Void)?

    private let services: Services
    private let caller: AccessCaller
    private var role: Role
    private let daemon: Upstream
    private let library: LibraryLink
    /// Calls about rooms; nil: there was none.
    private var rooms: RoomCalls?
    /// True if the caller has sent a request to the library.
    private var hasAskedLibrary = false
    /// Answers that need the greeting of the daemon.
    private var greeted: [@PlayerLoop (JSONObject) -> Void] = []

    /// Unsent bytes for the daemon or the library above which the session takes no lines from the caller.
    private static let maximumUnsent = 256 << 10

    /// A session of a caller. Throws if the daemon is not there.
    init(_ services: Services, _ caller: AccessCaller) throws(RPCError) {
        self.services = services
        self.caller = caller
        role = caller.role
        daemon = try services.daemon(caller, caller.role)
        library = LibraryLink(services, caller, caller.role)
        library.onLine = { [unowned self] in deliver($0) }
        library.onDrain = { [unowned self] in onDrain?() }
        daemon.onLine = { [unowned self] line, _ in deliver(line) }
        daemon.onDrain = { [unowned self] in onDrain?() }
        daemon.onEnd = { [unowned self] in end($0 ?? Services.daemonHasEnded) }
        daemon.onGreeting = { [unowned self] in
            let waiting = greeted
            greeted = []
            for answer in waiting { answer(daemon.greeting ?? JSONObject()) }
        }
    }

    /// True while lines of the caller have to wait.
    var isBlocked: Bool { max(daemon.unsent, library.unsent) > Self.maximumUnsent }

    /// Sends nothing to the caller while paused; the daemon keeps the newest state then.
    func setPaused(_ isPaused: Bool) {
        daemon.setPaused(isPaused)
        library.setPaused(isPaused)
        rooms?.setPaused(isPaused)
    }

    /// Ends the session. No handler is called from then on.
    func close() {
        onLine = nil
        onEnd = nil
        onDrain = nil
        greeted = []
        daemon.close()
        library.close()
        rooms?.close()
    }

    private func end(_ error: RPCError) {
        let ended = onEnd
        close()
        ended?(error)
    }

    // MARK: Lines of the caller

    /// Takes a line: a request or a batch. True: the line gets no answer.
    @discardableResult func take(_ line: [UInt8]) -> Bool {
        let received = MonotonicTime.now
        let line = Self.inOneLine(line)
        switch line.withUnsafeBytes({ RPCLine.read($0) }) {
        case .single(let element): return take(element, line, received)
        case .batch(let elements):
            take(elements, line)
            return !elements.contains { Self.id($0) != nil }
        }
    }

    /// The text with blanks for line ends: one between JSON tokens is white space there, but it would end a line of the socket.
    private static func inOneLine(_ text: [UInt8]) -> [UInt8] {
        var line = text
        line.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            for end in [0x0A, 0x0D] as [Int32] {
                var place = start
                while let found = memchr(place, end, start + bytes.count - place) {
                    found.storeBytes(of: 0x20, as: UInt8.self)
                    place = found + 1
                }
            }
        }
        return line
    }

    private func take(_ element: RPCElement, _ line: [UInt8], _ received: MonotonicTime) -> Bool {
        switch element {
        case .request(let request):
            do throws(RPCError) { try take(request, line, received) } catch {
                if let id = request.id { refuse(id, error) }
            }
            return request.id == nil
        case .invalid(let id, let error):
            refuse(id, error)
            return false
        case .response: return true
        }
    }

    private func take(_ request: RPCRequest, _ line: [UInt8], _ received: MonotonicTime) throws(RPCError) {
        let server = try NetworkMethods.server(of: request.method, for: role)
        try NetworkMethods.check(request.method, request.parameters)
        if role == .read { try PublicText.check(request.parameters) }
        switch server {
        case .bridge: try answer(request, received)
        case .daemon: daemon.send(line)
        case .library:
            hasAskedLibrary = true
            try library.send(line, [request], isBatch: false)
        }
    }

    /// Sends a whole batch to one server, as its answer is one line.
    private func take(_ elements: [RPCElement], _ line: [UInt8]) {
        do throws(RPCError) {
            var target: NetworkMethods.Server?
            var requests: [RPCRequest] = []
            for element in elements {
                guard case .request(let request) = element else { continue }
                let server = try NetworkMethods.server(of: request.method, for: role)
                try NetworkMethods.check(request.method, request.parameters)
                if role == .read { try PublicText.check(request.parameters) }
                guard server != .bridge, target == nil || target == server else {
                    throw .invalidRequest("a batch has methods of the daemon alone, or of the library alone")
                }
                target = server
                requests.append(request)
            }
            guard target == .library else { return daemon.send(line) }
            hasAskedLibrary = true
            try library.send(line, requests, isBatch: true)
        } catch { refuse(RPCLine.nullID, error) }
    }

    private static func id(_ element: RPCElement) -> [UInt8]? {
        switch element {
        case .request(let request): request.id
        case .invalid(let id, _): id
        case .response: nil
        }
    }

    /// Calls `done` when the daemon and the library have begun all requests so far.
    func settle(_ done: @escaping @PlayerLoop () -> Void) {
        if hasAskedLibrary { return library.settle(done) }
        daemon.onLine = { line, _ in if !Upstream.isNotification(line) { done() } }
        daemon.send(Upstream.request(id: "0", "hello"))
    }

    // MARK: Answers of the bridge

    /// The catalogue as JSON, made once.
    private static let discovery: [UInt8] = {
        var writer = JSONWriter()
        writer.value(NetworkMethods.table.discovery(version: Product.version))
        return writer.bytes
    }()

    /// The permanent id of this bridge, the same as in its announcement in the network.
    private static let identity = BridgeIdentity.make()

    private func answer(_ request: RPCRequest, _ received: MonotonicTime) throws(RPCError) {
        let id = request.id
        switch request.method {
        case "hello":
            if let asked = try Self.role(request.parameters), asked < role {
                role = asked
                let parameters = JSONObject([.init("role", .string(asked.rawValue))])
                daemon.send(Upstream.request(id: nil, "hello", parameters))
                library.setRole(asked)
            }
            let role = role
            let answer: @PlayerLoop (JSONObject) -> Void = { [unowned self] greeting in
                var result = greeting
                result["role"] = .string(role.rawValue)
                result["id"] = .string(Self.identity)
                var capabilities = result["capabilities"]?.objectValue ?? JSONObject()
                if services.speech.canSpeak, role >= .control { capabilities["speech"] = true }
                if services.rooms.configured != nil { capabilities["rooms"] = true }
                if !capabilities.members.isEmpty { result["capabilities"] = .object(capabilities) }
                if let id { succeed(id, .object(result)) }
            }
            if let greeting = daemon.greeting { answer(greeting) } else { greeted.append(answer) }
        case "rpc.discover":
            guard let id else { return }
            var writer = JSONWriter()
            writer.answer(id: id, result: Self.discovery)
            onLine?(writer.bytes)
        case "devices.list":
            let devices = services.devices(of: caller)
            if let id { succeed(id, ["devices": .array(devices)]) }
        case "devices.revoke":
            guard let device = request.parameters["id"]?.stringValue, request.parameters.members.count == 1 else {
                throw .invalidParameter("id", "devices.revoke takes “id”, a text")
            }
            try services.revoke(device, caller)
            if let id { succeed(id, [:]) }
        case "artwork.link":
            guard let id else { return }
            try NetworkMethods.table.method(request.method)?.check(request.parameters)
            let picture = request.parameters["id"]?.stringValue ?? ""
            let size = request.parameters["size"]?.integerValue ?? 0
            let link = try services.links.make(picture, size: size, at: WallTime.now)
            succeed(id, ["address": .string(link.address), "until": .integer(link.until)])
        case _:
            if let name = RoomMethods.Name(rawValue: request.method) { return try answerRooms(id, name, request) }
            guard let id else { return }
            try answerClock(id, request.parameters, received)
        }
    }

    private func answerRooms(_ id: [UInt8]?, _ name: RoomMethods.Name, _ request: RPCRequest) throws(RPCError) {
        let calls = rooms ?? RoomCalls(services.rooms) { [unowned self] in onLine?($0) }
        rooms = calls
        try calls.take(name, request.parameters) { [unowned self] outcome in
            guard let id else { return }
            switch outcome {
            case .success(let result):
                var writer = JSONWriter()
                writer.answer(id: id, result: result)
                onLine?(writer.bytes)
            case .failure(let error): refuse(id, error)
            }
        }
    }

    private static func role(_ parameters: JSONObject) throws(RPCError) -> Role? {
        for member in parameters.members where !["client", "role"].contains(member.name) {
            throw .invalidParameter(member.name, "unknown parameter “\(member.name.prefix(64))” of hello")
        }
        guard let value = parameters["role"] else { return nil }
        guard let role = value.stringValue.flatMap(Role.init), role < .admin else {
            throw .invalidParameter("role", "“role” has to be read, remote or control")
        }
        return role
    }

    private func answerClock(_ id: [UInt8], _ parameters: JSONObject, _ received: MonotonicTime) throws(RPCError) {
        for member in parameters.members where member.name != "sent" || member.value.doubleValue == nil {
            throw .invalidParameter(member.name, "clock.now takes “sent”, a number")
        }
        var result = JSONWriter()
        result.beginObject()
        if let sent = parameters["sent"] {
            result.key("sent")
            result.value(sent)
        }
        result.key("received")
        result.seconds(received)
        result.key("answered")
        result.seconds(.now)
        result.endObject()
        var writer = JSONWriter()
        writer.answer(id: id, result: result.bytes)
        onLine?(writer.bytes)
    }

    private func succeed(_ id: [UInt8], _ result: JSONValue) {
        var writer = JSONWriter()
        writer.answer(id: id, result: result)
        onLine?(writer.bytes)
    }

    private func refuse(_ id: [UInt8], _ error: RPCError) {
        var writer = JSONWriter()
        writer.answer(id: id, error: error)
        onLine?(writer.bytes)
    }

    private func deliver(_ line: [UInt8]) {
        guard role == .read else { return onLine?(line) ?? () }
        // Callers with the role `read` see less over the network than on the socket.
        guard let message = try? JSONReader.read(line) else { return }
        var writer = JSONWriter()
        writer.value(PublicText.of(message))
        onLine?(writer.bytes)
    }
}
