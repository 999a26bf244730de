import CMicroHTTP
import LinuxSystem
import WebAccess
import WebProtocol

/// A request and its answer.
@PlayerLoop final class HTTPExchange {
    private enum State {
        /// The body is not complete.
        case arriving
        /// The request is complete, and has no answer.
        case waiting(isSuspended: Bool)
        case answered(HTTPAnswer)
        case sent
    }

    /// A refusal that is decided before the body, and sent after some seconds.
    struct Refusal: Sendable {
        let fault: HTTPFault
        /// Seconds.
        let delay: Double
    }

    let head: RequestHead
    let route: WebRoute
    let connection: HTTPConnection
    private(set) var body: [UInt8] = []
    private var bodyLength = 0
    /// The body among those of all callers; nil: it has a bound of its own.
    private var share: ArrivalBudget.Share?
    /// The caller, if the route requires one.
    private(set) var caller: AccessCaller?
    let refusal: Refusal?
    /// The place for the announcement in the arriving body.
    private var place: AnnounceDesk.Place?
    /// The value of `Access-Control-Allow-Origin`; nil: none.
    let sharedOrigin: String?
    private let maximumBody: Int
    private var state = State.arriving

    /// A request. `maximumBody`: bytes.
    init(
        _ head: RequestHead, _ route: WebRoute, _ connection: HTTPConnection, _ caller: AccessCaller?, maximumBody: Int,
        refusal: Refusal? = nil, sharedOrigin: String? = nil
    ) {
        self.head = head
        self.route = route
        self.connection = connection
        self.caller = caller
        self.maximumBody = maximumBody
        self.refusal = refusal
        self.sharedOrigin = sharedOrigin
    }

    /// Keeps the place for the announcement while the body arrives.
    func keepPlace(_ place: AnnounceDesk.Place) { self.place = place }

    /// Counts the body among those of all callers. Throws if there is no room for its announced length.
    func count(_ share: ArrivalBudget.Share) throws(HTTPFault) {
        self.share = share
        guard share.set(Int(clamping: head.bodyLength ?? 0)) else {
            throw HTTPFault(
                .tooManyRequests,
                "the requests of this caller, or of all, that have not arrived completely are too long",
                headers: ["Retry-After": "1"])
        }
    }

    /// Gives the place back.
    func releasePlace() { place = nil }

    /// Seconds in which the whole body has to arrive, even if its parts arrive steadily.
    var bodySeconds: Double { 10 + Double(maximumBody) / Self.slowestBody }

    /// Bytes a second that even a slow network transfers.
    private static let slowestBody = Double(128 << 10)

    /// The request for rules of access.
    func access(_ purpose: AccessRequest.Purpose) -> AccessRequest {
        AccessRequest(connection.facts, purpose, headers: head.headers)
    }

    /// Takes a part of the body. False: the body is too long. The body of a request that is refused anyway is not kept.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bodyLength + bytes.count <= maximumBody else { return false }
        bodyLength += bytes.count
        guard refusal == nil else { return true }
        if head.bodyLength == nil, share?.set(bodyLength) == false { return false }
        // Growth by doubling would take twice the memory.
        if body.isEmpty, let length = head.bodyLength { body.reserveCapacity(min(maximumBody, Int(clamping: length))) }
        body.append(contentsOf: bytes)
        return true
    }

    /// Removes and returns the body.
    func takeBody() -> [UInt8] {
        defer {
            body = []
            share = nil
        }
        return body
    }

    /// Marks the body as complete; false: it was complete already.
    func complete() -> Bool {
        guard case .arriving = state else { return false }
        connection.bodyIsComplete()
        state = .waiting(isSuspended: false)
        return true
    }

    /// Answers the request; later answers are ignored.
    func answer(_ answer: HTTPAnswer) {
        guard case .waiting(let isSuspended) = state else { return }
        var answer = answer
        if let sharedOrigin {
            answer.add("Access-Control-Allow-Origin", sharedOrigin)
            answer.add("Vary", "Origin")
        }
        state = .answered(answer)
        guard isSuspended, let handle = connection.handle else { return }
        MHD_resume_connection(handle)
        connection.kick()
    }

    /// The answer for MHD, once; nil: the request still waits for its answer.
    func takeAnswer() -> HTTPAnswer? {
        switch state {
        case .arriving, .sent: return nil
        case .waiting:
            state = .waiting(isSuspended: true)
            return nil
        case .answered(let answer):
            state = .sent
            // A lasting answer needs its parts until the end of the request.
            kept = answer
            return answer
        }
    }

    /// The answer being sent.
    private var kept: HTTPAnswer?
}
