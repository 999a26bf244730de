import CWSLay
import ControlProtocol
import WebProtocol

/// Requests and frames of browsers.
extension FuzzTarget {
    /// A request line and headers: the route, the handshake, ranges and tags. A head that is taken has one reading.
    static let webRequest = FuzzTarget(
        name: "web-request",
        seeds: {
            [
                "GET /artwork/0123.mp4?size=600&kind=preview\nHost: localhost:8088\nRange: bytes=0-1\nSave-Data: on",
                "POST /rpc\nHost: [::1]\nContent-Type: application/json\nContent-Length: 12",
                "POST /announce?wait&volume=0.5\nHost: a\nTransfer-Encoding: chunked",
                "GET /rpc\nHost: a\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\n"
                    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\nSec-WebSocket-Protocol: nowplaying.1",
                "GET /script/%C3%A4.js?a=%20+b\nHost: a\nIf-None-Match: W/\"a\", \"b\"\nIf-Range: \"a\"",
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            let lines = bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
            let words = (lines.first ?? "").split(separator: " ", maxSplits: 1).map(String.init)
            let headers = lines.dropFirst().map { line in
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                let value = parts.count > 1 ? RequestHead.trimmed(parts[1]) : ""
                return (name: String(parts.first ?? ""), value: value)
            }
            guard
                let head = try? RequestHead(
                    method: words.first ?? "", target: words.last ?? "", version: "HTTP/1.1", headers: headers)
            else { return }
            precondition(head.values("host").count == 1, "a request has no host, or several")
            let lengths = head.values("content-length").count + head.values("transfer-encoding").count
            precondition(lengths <= 1, "a request has two lengths")
            for part in head.target.path {
                precondition(!["", ".", ".."].contains(part) && !part.utf8.contains(0x2F), "a path leads elsewhere")
            }
            _ = try? WebRoute(head)
            _ = try? UpgradeRequest(head)
            _ = EntityTag.isKnown("\"a\"", to: head)
            _ = ContentType.isJSON(head)
            for size in [0, 1, 100, UInt64.max >> 1] {
                guard case .part(let range) = ByteRange(head, size: size, tag: "\"a\"") else { continue }
                precondition(!range.isEmpty && range.upperBound <= size, "a range is beyond the end")
            }
        })

    /// Frames of a client, as libwslay reads them, and the requests in them.
    static let webFrames = FuzzTarget(
        name: "web-frames",
        seeds: {
            let request = Array(#"{"jsonrpc":"2.0","id":1,"method":"queue.add","params":{"items":["a"]}}"#.utf8)
            return [
                [0x81, 0x80 | UInt8(request.count), 0, 0, 0, 0] + request,
                [0x01, 0x82, 1, 2, 3, 4, 0x7A, 0x79, 0x89, 0x80, 0, 0, 0, 0, 0x80, 0x81, 0, 0, 0, 0, 0x20],
                [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8], [0x81, 0xFE, 0, 1, 0, 0, 0, 0, 0x20],
            ]
        },
        run: { FrameReader($0).run() })

    /// Frames that were cut at each byte that the input names: no number of fragments takes more memory than its bound.
    static let webFragments = FuzzTarget(
        name: "web-fragments",
        seeds: {
            [
                [0x01, 0x01, 0x00, 0x01, 0x00, 0x01, 0x80, 0x01], [0x01, 0x7D, 0x89, 0x00, 0x00, 0x7D, 0x80, 0x00],
                (0..<600).flatMap { _ in [0x00, 0x00] as [UInt8] }, [0x01, 0x00, 0x01, 0x00, 0x82, 0x03],
            ]
        },
        run: { bytes in
            var frames: [UInt8] = []
            // Pairs: the first byte of a frame, and the length of its content.
            for index in stride(from: 0, to: bytes.count - 1, by: 2) {
                let count = Int(bytes[index + 1] & 0x7F) % 126
                frames += [bytes[index], 0x80 | UInt8(count), 0, 0, 0, 0] + [UInt8](repeating: 0x20, count: count)
            }
            FrameReader(frames).run()
        })
}

/// Reads frames as the bridge does.
private final class FrameReader {
    private let bytes: [UInt8]
    private var offset = 0
    private var arriving = ArrivingMessage()

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func run() {
        var callbacks = wslay_event_callbacks()
        callbacks.recv_callback = { context, space, count, _, owner in
            guard let owner, let space else { return -1 }
            let reader = Unmanaged<FrameReader>.fromOpaque(owner).takeUnretainedValue()
            let part = reader.bytes[reader.offset...].prefix(min(count, 7))
            if part.isEmpty { wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue) }
            for (index, byte) in part.enumerated() { space[index] = byte }
            reader.offset += part.count
            return part.isEmpty ? -1 : part.count
        }
        callbacks.send_callback = { _, _, count, _, _ in count }
        callbacks.on_frame_recv_start_callback = { context, frame, owner in
            guard let owner, let frame = frame?.pointee, frame.opcode < 8 else { return }
            let reader = Unmanaged<FrameReader>.fromOpaque(owner).takeUnretainedValue()
            let isFirst = UInt32(frame.opcode) != WSLAY_CONTINUATION_FRAME.rawValue
            let before = reader.arriving
            reader.arriving.take(isFirst: isFirst, count: Int(clamping: frame.payload_length))
            precondition(reader.arriving.cost > (isFirst ? 0 : before.cost), "a fragment costs nothing")
            if reader.arriving.hasTooManyFragments { wslay_event_shutdown_read(context) }
            precondition(
                reader.arriving.fragments <= ArrivingMessage.maximumFragments + 1, "fragments after the last one")
        }
        callbacks.on_msg_recv_callback = { _, message, _ in
            guard let message = message?.pointee, UInt32(message.opcode) == WSLAY_TEXT_FRAME.rawValue else { return }
            let text = UnsafeRawBufferPointer(start: message.msg, count: message.msg_length)
            precondition(String(validating: text, as: UTF8.self) != nil, "a text is not UTF-8")
            guard case .single(.request(let request)) = RPCLine.read(text) else { return }
            _ = try? NetworkMethods.server(of: request.method, for: .control)
            _ = try? NetworkMethods.check(request.method, request.parameters)
            _ = PublicText.of(.object(request.parameters))
        }
        var context: wslay_event_context_ptr?
        guard wslay_event_context_server_init(&context, &callbacks, Unmanaged.passUnretained(self).toOpaque()) == 0
        else {
            return
        }
        wslay_event_config_set_max_recv_msg_length(context, 256 << 10)
        while wslay_event_recv(context) == 0, wslay_event_want_read(context) != 0, offset < bytes.count {}
        while wslay_event_want_write(context) != 0, wslay_event_send(context) == 0 {}
        wslay_event_context_free(context)
    }
}
