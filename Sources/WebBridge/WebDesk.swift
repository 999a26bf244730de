import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import WebAccess
import WebProtocol

/// Answers all requests: judges them, and passes them to the desks that have the content.
@PlayerLoop final class WebDesk: HTTPHandler {
    private let services: Services
    private let judge: AccessJudge
    private let page = PageFiles()
    private let artwork: ArtworkDesk
    private let calls: CallDesk
    private let events: EventDesk
    private let announcements: AnnounceDesk
    private let sockets: SocketDesk
    private let pairing: PairDesk
    private let figures: MetricsDesk
    private var basePath: BasePath

    /// A desk without requests.
    init(_ services: Services, _ judge: AccessJudge, _ settings: WebSettings) {
        self.services = services
        self.judge = judge
        artwork = ArtworkDesk(services)
        calls = CallDesk(services)
        events = EventDesk(services)
        announcements = AnnounceDesk(services, judge)
        sockets = SocketDesk(services)
        pairing = PairDesk(services.loop, judge, settings.basePath)
        figures = MetricsDesk(services, judge, isOn: settings.metrics)
        basePath = settings.basePath
        judge.onRevocation = { [unowned self] _ in endRefused() }
    }

    /// Applies new settings to further requests.
    func reload(_ settings: WebSettings) {
        basePath = settings.basePath
        pairing.reload(settings.basePath)
        figures.reload(isOn: settings.metrics)
    }

    /// Ends the calls, streams and sockets of callers that have lost their rights.
    func endRefused() {
        sockets.endRefused(judge)
        events.endRefused(judge)
        calls.endRefused(judge)
    }

    /// The answer to a caller whose rights have ended since its request began.
    static let refused = HTTPFault(
        .unauthorized, "the rights of this caller have ended", headers: ["WWW-Authenticate": "Bearer"])

    /// True if the files of the page are installed.
    var hasPage: Bool { page.arePresent }

    /// Ends all calls, streams, sockets, announcements and requests for pictures.
    func end() {
        sockets.end()
        events.end()
        calls.end()
        announcements.end()
        artwork.end()
        figures.end()
    }

    // MARK: Access

    func exchange(_ received: RequestHead, _ connection: HTTPConnection) throws(HTTPFault) -> HTTPExchange {
        let (head, route): (RequestHead, WebRoute)
        let request: AccessRequest
        do throws(HTTPFault) {
            head = try received.below(basePath.parts)
            route = try WebRoute(head)
        } catch {
            // The answer must not reveal paths to strangers.
            try Self.checkHost(judge, AccessRequest(connection.facts, .page, headers: received.headers))
            throw error
        }
        request = AccessRequest(connection.facts, Self.purpose(route), headers: head.headers)
        let verdict = judge.judge(request, at: .now, wall: WallTime.now)
        var caller: AccessCaller?
        var refusal: HTTPExchange.Refusal?
        switch verdict {
        case .admitted(let found): caller = found
        case .open: break
        case .malformed, .misdirected, .foreign, .stale, .tooMany: try Self.refuse(verdict)
        case .refused(let delay, let hasCookie):
            if isGranted(route) { break }
            var fault = HTTPFault(
                .unauthorized, "this device is not paired; “nowplayingctl pair” shows how",
                headers: ["WWW-Authenticate": "Bearer"])
            if hasCookie { fault.headers["Set-Cookie"] = request.cookie(nil, below: basePath) }
            refusal = HTTPExchange.Refusal(fault: fault, delay: delay)
        }
        let limit = refusal == nil ? try limit(route, head) : 64 << 10
        guard head.bodyLength ?? 0 <= UInt64(limit) else {
            throw HTTPFault(.tooLarge, "the body has more than \(limit) bytes")
        }
        let exchange = HTTPExchange(
            head, route, connection, caller, maximumBody: limit, refusal: refusal,
            sharedOrigin: judge.sharedOrigin(of: request))
        switch route {
        case .announce: if let caller { exchange.keepPlace(try announcements.reserve(caller)) }
        case .calls: if let caller { try exchange.count(services.arrivals.share(caller)) }
        case .page, .artwork, .events, .metrics, .pair, .prove, .preflight: break
        }
        return exchange
    }

    private func isGranted(_ route: WebRoute) -> Bool {
        guard case .artwork(let request) = route else { return false }
        return services.links.admits(request, at: WallTime.now)
    }

    private static func checkHost(_ judge: AccessJudge, _ request: AccessRequest) throws(HTTPFault) {
        try refuse(judge.judge(request, at: .now, wall: WallTime.now))
    }

    private static func refuse(_ verdict: AccessVerdict) throws(HTTPFault) {
        switch verdict {
        case .malformed: throw HTTPFault(.badRequest, "a request needs one header Host with a name or an address")
        case .misdirected:
            throw HTTPFault(
                .misdirected, "this is not a name of this machine; add it to “hosts” in [web], or use its address")
        case .foreign:
            throw HTTPFault(.forbidden, "pages of this origin may not call; add it to “origins” in [web]")
        case .stale:
            throw HTTPFault(.conflict, "this proof is used or too old; POST /prove gets the nonce for another one")
        case .tooMany:
            throw HTTPFault(.tooManyRequests, "this device has made too many proofs", headers: ["Retry-After": "30"])
        case .admitted, .open, .refused: break
        }
    }

    private static func purpose(_ route: WebRoute) -> AccessRequest.Purpose {
        switch route {
        case .page: .page
        case .pair, .prove, .preflight: .pairing
        case .artwork, .calls, .events, .announce, .metrics: .call
        }
    }

    /// Maximum bytes of the body of a request. Throws for a request that must not have a body.
    private func limit(_ route: WebRoute, _ head: RequestHead) throws(HTTPFault) -> Int {
        switch route {
        case .page, .artwork, .events, .metrics, .preflight: return 0
        case .calls(let isUpgrade):
            if isUpgrade { return 0 }
            try Self.checkJSON(head)
            return CallDesk.maximumBytes
        case .pair, .prove:
            try Self.checkJSON(head)
            return 4096
        case .announce(let request):
            if request.isText { try announcements.checkSpeech() }
            return request.maximumBody
        }
    }

    private static func checkJSON(_ head: RequestHead) throws(HTTPFault) {
        guard ContentType.isJSON(head) else {
            throw HTTPFault(.unsupportedMediaType, "the Content-Type has to be application/json")
        }
    }

    // MARK: Answers

    func serve(_ exchange: HTTPExchange) {
        if let refusal = exchange.refusal { return pairing.refuse(exchange, refusal) }
        guard let caller = exchange.caller else { return answerNow(exchange) }
        // The body may have arrived long after the head.
        guard judge.isAdmitted(caller) else { return exchange.answer(HTTPAnswer(Self.refused)) }
        _ = services.pace.run(caller) {
            answerNow(exchange)
        } later: { [weak self] in
            self?.serve(exchange)
        }
    }

    private func answerNow(_ exchange: HTTPExchange) {
        do throws(HTTPFault) { try answer(exchange) } catch { exchange.answer(HTTPAnswer(error)) }
    }

    private func answer(_ exchange: HTTPExchange) throws(HTTPFault) {
        switch exchange.route {
        case .page(let path): exchange.answer(try page.answer(path, exchange.head))
        case .preflight: exchange.answer(Self.preflight(exchange))
        case .pair: pairing.serve(exchange)
        case .prove: pairing.prove(exchange)
        case .artwork(let request):
            // An address with a permission needs no caller.
            artwork.serve(
                request, services.links.admits(request, at: WallTime.now) ? nil : try Self.caller(exchange), exchange)
        case .events(let session): events.serve(session, try Self.caller(exchange), exchange)
        case .metrics: try figures.serve(try Self.caller(exchange), exchange)
        case .announce(let request): announcements.serve(request, try Self.caller(exchange), exchange)
        case .calls(let isUpgrade):
            let caller = try Self.caller(exchange)
            if isUpgrade { try sockets.serve(caller, exchange) } else { calls.serve(caller, exchange) }
        }
    }

    private static func caller(_ exchange: HTTPExchange) throws(HTTPFault) -> AccessCaller {
        guard let caller = exchange.caller else { throw HTTPFault(.unauthorized, "this device is not paired") }
        return caller
    }

    /// Answers a preflight request. A page whose origin is not named gets no permission.
    private static func preflight(_ exchange: HTTPExchange) -> HTTPAnswer {
        guard exchange.sharedOrigin != nil else { return HTTPAnswer(.noContent, [("Allow", "GET, HEAD, POST")]) }
        return HTTPAnswer(
            .noContent,
            [
                ("Access-Control-Allow-Methods", "GET, POST"),
                ("Access-Control-Allow-Headers", "Authorization, Content-Type"), ("Access-Control-Max-Age", "600"),
            ])
    }
}

/// The present time of the wall clock.
enum WallTime {
    /// Unix time in seconds.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
