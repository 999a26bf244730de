import CWebAnswers
import Glibc
import TestSupport
import Testing

/// NULs in heads: libmicrohttpd alone would not see the bytes after them.
@Suite(.timeLimit(.minutes(5)), .serialized) struct HeadTests {
    private static let head = "GET /nothing.js HTTP/1.1\r\nHost: localhost\r\n"
    private static let body = #"{"jsonrpc":"2.0","id":1,"method":"clock.now"}"#
    private static let post =
        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\ncontent-length:  \(body.utf8.count)\r\n\r\n"
        + body

    @Test("a NUL anywhere in a head is refused, in one piece and byte by byte, also behind another request")
    func refused() async throws {
        let house = await WebHouse.start()
        for text in [
            Self.head + "X: a\0b\r\n\r\n", Self.head + "X: a\0b\r\nY: c\r\n\r\n", Self.head + "X: a\0\r\n\r\n",
            Self.head + "X: \0\r\nY: c\r\n\r\n", Self.head + "X\0: a\r\n\r\n", Self.head + "\0X: a\r\n\r\n",
            Self.head + "\0\r\n\r\n", Self.head + "X: a\0\n\n",
            "GET /nothing.js\0a HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /nothing.js HTTP/1.1\r\nHost: localhost\0.example\r\n\r\n",
        ] {
            for (before, statuses) in [("", []), (Self.head + "\r\n", [404]), (Self.post, [200])] as [(String, [Int])] {
                let bytes = Array((before + text).utf8)
                for step in [bytes.count, 1] {
                    let client = try house.client()
                    for start in stride(from: 0, to: bytes.count, by: step) {
                        client.send(Array(bytes[start..<start + step]))
                    }
                    for status in statuses { #expect(try client.answer().status == status) }
                    #expect(try client.answer().status == 400, "\(text.debugDescription)")
                    #expect(client.isEnded())
                }
            }
        }
    }

    /// The bytes that arrive after these were sent on one end of a pair of sockets.
    private func sent(_ text: String, on end: Int32, to other: Int32) -> String {
        var bytes = Array(text.utf8)
        bytes.withUnsafeMutableBytes { bytes in
            var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            withUnsafeMutablePointer(to: &part) { part in
                var message = msghdr()
                message.msg_iov = part
                message.msg_iovlen = 1
                _ = sendmsg(end, &message, 0)
            }
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(other, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    @Test("only an answer of libmicrohttpd itself is replaced, and no content that begins as one") func replaced()
        throws
    {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let page = "HTTP/1.1 400 Bad Request\r\nContent-Length: 40\r\n\r\n<html><head><title>"
        web_forget_heads(ends[0])
        #expect(sent(page, on: ends[0], to: ends[1]) == page, "no connection of HTTP")
        web_watch_heads(ends[0], 0)
        #expect(sent("HTTP/1.1 200 OK\r\n\r\n", on: ends[0], to: ends[1]) == "HTTP/1.1 200 OK\r\n\r\n")
        let own = sent(page, on: ends[0], to: ends[1])
        #expect(
            own.hasPrefix("HTTP/1.1 400 Bad Request\r\n") && own.contains("nosniff") && !own.contains("html>"), "\(own)"
        )
        web_begin_answer(ends[0])
        #expect(sent(page, on: ends[0], to: ends[1]) == page, "content of an answer of the bridge")
        web_await_head(ends[0])
        #expect(sent(page, on: ends[0], to: ends[1]) == own)
        web_forget_heads(ends[0])
        #expect(sent(page, on: ends[0], to: ends[1]) == page, "a WebSocket")
    }

    @Test("bodies and other protocols keep their NULs, however the bytes arrive") func kept() {
        let descriptor: Int32 = 16_000
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\0\r\n0\r\n\r\n"
        let upgrade = "GET /rpc HTTP/1.1\r\nUPGRADE: websocket\r\n\r\n\0\0"
        for (sent, seen) in [
            ("\r\nPOST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n\0\n\0GET\0 /", nil),
            ("POST / HTTP/1.1\r\nX: \0\r\nContent-Length: 1\r\n\r\n\0GET\0 /", nil),
            (chunked, chunked), (upgrade, upgrade),
        ] as [(String, String?)] {
            for step in 1...sent.utf8.count {
                web_watch_heads(descriptor, 0)
                var bytes = Array(sent.utf8)
                for start in stride(from: 0, to: bytes.count, by: step) {
                    let count = min(step, bytes.count - start)
                    bytes.withUnsafeMutableBytes { web_show_nuls(descriptor, 0, $0.baseAddress! + start, count) }
                }
                let expected = seen ?? sent.replacing("GET\0", with: "GET\u{1}").replacing("X: \0", with: "X: \u{1}")
                #expect(bytes == Array(expected.utf8), "in steps of \(step)")
            }
            web_await_head(descriptor)
            web_forget_heads(descriptor)
            var bytes: [UInt8] = [0]
            web_show_nuls(descriptor, 0, &bytes, 1)
            // Bytes of TLS itself are no head.
            web_watch_heads(descriptor, 1)
            web_show_nuls(descriptor, 0, &bytes, 1)
            #expect(bytes == [0])
            web_show_nuls(descriptor, 1, &bytes, 1)
            #expect(bytes == [1])
            web_forget_heads(descriptor)
        }
    }
}
