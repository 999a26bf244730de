import CMicroHTTP
import Glibc
import LinuxSystem
import WebProtocol

/// The answer to a request.
struct HTTPAnswer: Sendable {
    /// The body of an answer.
    enum Body: Sendable {
        case bytes([UInt8])
        /// A part of an open file.
        case file(OwnedDescriptor, Range<UInt64>)
        /// Events until the client goes.
        case stream(EventBody)
        /// From now on, the connection uses another protocol.
        case upgrade(UpgradeTaker)
    }

    let status: HTTPStatus
    private(set) var headers: [(name: String, value: String)]
    let body: Body

    /// An answer, by its parts. Headers that every answer has are added when it is sent.
    init(_ status: HTTPStatus, _ headers: [(name: String, value: String)] = [], _ body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A refusal in words.
    init(_ fault: HTTPFault) {
        self.init(
            fault.status,
            [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")]
                + fault.headers.map { ($0.key, $0.value) } + SafetyHeaders.closed,
            .bytes(Array((fault.message + "\n").utf8)))
    }

    /// JSON that no cache may keep.
    static func json(_ bytes: [UInt8], _ status: HTTPStatus = .ok) -> HTTPAnswer {
        HTTPAnswer(
            status, [("Content-Type", "application/json"), ("Cache-Control", "no-store")] + SafetyHeaders.closed,
            .bytes(bytes))
    }

    /// Adds a header.
    mutating func add(_ name: String, _ value: String) { headers.append((name, value)) }

    /// The answer for MHD, owned by the caller; nil: memory is short.
    @PlayerLoop func response() -> OpaquePointer? {
        let made: OpaquePointer?
        switch body {
        case .bytes(let bytes): made = web_bytes_response(bytes, bytes.count)
        case .file(let file, let range):
            // MHD closes the descriptor.
            let copy = fcntl(file.number, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { return nil }
            made = MHD_create_response_from_fd_at_offset64(UInt64(range.count), copy, range.lowerBound)
            if made == nil { close(copy) }
        case .stream(let body): made = body.response()
        case .upgrade(let taker): made = taker.response()
        }
        guard let made else { return nil }
        for header in headers + SafetyHeaders.usual { MHD_add_response_header(made, header.name, header.value) }
        return made
    }
}

/// Takes a connection that was upgraded.
@PlayerLoop final class UpgradeTaker {
    /// A connection after its upgrade.
    struct Connection {
        /// The socket, owned by MHD until `web_end_upgrade`.
        let descriptor: Int32
        /// Bytes that arrived directly after the request.
        let first: [UInt8]
        let handle: OpaquePointer
    }

    private let take: @PlayerLoop (Connection) -> Void

    /// `take` is called once, after the answer was sent.
    nonisolated init(_ take: @escaping @PlayerLoop (Connection) -> Void) { self.take = take }

    fileprivate func response() -> OpaquePointer? {
        // The exchange keeps the object until the request is complete, which is after the call.
        MHD_create_response_for_upgrade(
            { context, _, _, extra, count, descriptor, handle in
                let (context, handle) = (UInt(bitPattern: context), UInt(bitPattern: handle))
                let first = extra.map { extra in
                    UnsafeRawBufferPointer(start: extra, count: count).map { $0 }
                }
                PlayerLoop.assumeIsolated {
                    let taker = Unmanaged<UpgradeTaker>.fromOpaque(UnsafeRawPointer(bitPattern: context)!)
                        .takeUnretainedValue()
                    guard let handle = OpaquePointer(bitPattern: handle) else { return }
                    taker.take(Connection(descriptor: descriptor, first: first ?? [], handle: handle))
                }
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
