import ControlProtocol
import LinuxSystem
import WebAccess
import WebProtocol

/// Pictures and films of the daemon, by the ids in its states.
@PlayerLoop final class ArtworkDesk {
    private typealias Answer = @PlayerLoop (Result<(JSONValue, OwnedDescriptor), HTTPFault>) -> Void

    private let services: Services
    private var daemon: Upstream?
    /// Requests by the numbers of their calls.
    private var waiting: [Int64: Answer] = [:]
    private var lastNumber: Int64 = 0
    /// Requests to the library, by their numbers.
    private var searches: [Int64: Upstream] = [:]

    /// A desk without a connection: the first request makes one.
    init(_ services: Services) { self.services = services }

    /// Answers a request. `caller`: nil if the address has the permission, which only pictures of the daemon have.
    func serve(_ request: ArtworkRequest, _ caller: AccessCaller?, _ exchange: HTTPExchange) {
        if let caller, let known = services.pictures.parameters(request.id) {
            return library(known, request, caller, exchange)
        }
        var parameters = JSONObject([
            .init("id", .string(request.id)), .init("kind", .string(request.kind.rawValue)), .init("descriptor", true),
        ])
        if let size = request.size {
            parameters["width"] = .integer(Int64(size))
            parameters["height"] = .integer(Int64(size))
            parameters["fit"] = "cover"
        }
        call(parameters) { Self.answer($0, exchange) }
    }

    /// Answers with a picture of the library that a caller has requested from the library before.
    private func library(
        _ known: JSONObject, _ request: ArtworkRequest, _ caller: AccessCaller, _ exchange: HTTPExchange
    ) {
        var parameters = known
        parameters["descriptor"] = true
        parameters["size"] = request.size.map { .integer(Int64($0)) }
        let library: Upstream
        do throws(RPCError) { library = try services.library(caller, .read) } catch {
            return exchange.answer(HTTPAnswer(HTTPFault(.unavailable, error.message)))
        }
        lastNumber += 1
        let number = lastNumber
        searches[number] = library
        let finish: @PlayerLoop (Result<(JSONValue, OwnedDescriptor), HTTPFault>) -> Void = { [unowned self] result in
            Self.answer(result, exchange)
            guard let ended = searches.removeValue(forKey: number) else { return }
            services.loop.later { ended.close() }
        }
        library.onLine = { line, file in
            guard let message = try? JSONReader.read(line), message["id"] != nil else { return }
            if let result = message["result"], let file { return finish(.success((result, file))) }
            finish(.failure(Self.fault(message["error"])))
        }
        library.onEnd = { finish(.failure(HTTPFault(.unavailable, $0?.message ?? "the library has ended"))) }
        library.send(Upstream.request(id: "1", LibraryMethodName.libraryArtwork.rawValue, parameters))
    }

    private static func answer(_ result: Result<(JSONValue, OwnedDescriptor), HTTPFault>, _ exchange: HTTPExchange) {
        switch result {
        case .success(let (picture, file)):
            do throws(HTTPFault) { exchange.answer(try answer(picture, file, exchange.head)) } catch {
                exchange.answer(HTTPAnswer(error))
            }
        case .failure(let fault): exchange.answer(HTTPAnswer(fault))
        }
    }

    /// An answer that never changes, as the id belongs to the content.
    private static func answer(
        _ picture: JSONValue, _ file: OwnedDescriptor, _ head: RequestHead
    ) throws(HTTPFault) -> HTTPAnswer {
        guard let type = picture["type"]?.stringValue, let id = picture["id"]?.stringValue, types.contains(type) else {
            throw HTTPFault(.badGateway, "the daemon has sent a picture of an unknown type")
        }
        let parts = [id] + [picture["width"], picture["height"]].map { $0?.integerValue.map(String.init) ?? "" }
        let headers = [
            ("Content-Type", type), ("Cache-Control", "private, max-age=604800"), ("Vary", "Save-Data"),
        ]
        let tag = "\"" + parts.joined(separator: "-") + "-" + (type.split(separator: "/").last ?? "") + "\""
        return try FileAnswer.make(file, head, headers + SafetyHeaders.closed, tag: tag)
    }

    private static let types: Set<String> = [
        "image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/bmp", "video/mp4", "video/webm",
        "video/quicktime",
    ]

    private func call(_ parameters: JSONObject, _ answer: @escaping Answer) {
        do throws(SystemError) {
            let upstream: Upstream
            if let daemon { upstream = daemon } else { upstream = try connect() }
            lastNumber += 1
            waiting[lastNumber] = answer
            upstream.send(Upstream.request(id: String(lastNumber), "artwork.get", parameters))
        } catch {
            answer(.failure(Self.absent))
        }
    }

    private static let absent = HTTPFault(
        .unavailable, "nowplayingd is not running: start it, or wait for it", headers: ["Retry-After": "2"])

    private func connect() throws(SystemError) -> Upstream {
        let made = try services.reader()
        made.onLine = { [unowned self] in take($0, $1) }
        made.onEnd = { [unowned self] _ in
            daemon = nil
            let answers = waiting.values
            waiting = [:]
            for answer in answers { answer(.failure(Self.absent)) }
        }
        daemon = made
        return made
    }

    private func take(_ line: [UInt8], _ file: OwnedDescriptor?) {
        guard let message = try? JSONReader.read(line), let number = message["id"]?.integerValue,
            let answer = waiting.removeValue(forKey: number)
        else { return }
        guard let result = message["result"], let file else {
            return answer(.failure(Self.fault(message["error"])))
        }
        answer(.success((result, file)))
    }

    private static func fault(_ error: JSONValue?) -> HTTPFault {
        switch error?["code"]?.integerValue {
        case 100, -32602: .notFound
        case 403: HTTPFault(.forbidden, "this picture is not for callers over the network")
        case _: HTTPFault(.badGateway, "the daemon could not get this picture")
        }
    }

    /// Ends the connection.
    func end() { daemon?.close() }
}
