import ControlProtocol
import Glibc
import NowPlaying
import TCPClient

/// An answer of nowplaying-web to the request for the address of a picture.
struct PictureLink: Sendable {
    let id: String
    /// Nil: the picture has no address, as no other machine reaches nowplaying-web.
    let address: String?
    /// End of the answer's validity, as Unix time in seconds.
    let until: Double

    /// Seconds of remaining validity below which an address is requested anew.
    static let reserve = 3600.0
    /// Seconds until a request times out.
    private static let patience = 3.0
    /// Maximum bytes of an answer.
    private static let maximumAnswer = 16 << 10
    /// Pixels of a side.
    private static let size = 600

    /// The present Unix time in seconds.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec)
    }

    /// Makes one request by HTTP/1.1 (RFC 9112). On a worker. Nil: nowplaying-web did not answer.
    static func ask(_ port: UInt16, _ id: String) -> PictureLink? {
        let body = JSONWriter.text([
            "jsonrpc": "2.0", "id": 1, "method": "artwork.link",
            "params": ["id": .string(id), "size": .integer(Int64(size))],
        ])
        let request =
            "POST /rpc HTTP/1.1\r\nHost: localhost:\(port)\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n" + body
        let end = MonotonicTime.now.advanced(bySeconds: patience)
        do throws(TCPConnection.Problem) {
            let connection = try connect(port, until: end)
            try connection.write(Array(request.utf8), until: end)
            var answer: [UInt8] = []
            while answer.count < maximumAnswer {
                let more = try connection.read(4096, until: end)
                if more.isEmpty { break }
                answer += more
            }
            return link(id, answer)
        } catch { return nil }
    }

    /// Connects by a numeric address: the sandbox permits no look-up of names.
    private static func connect(_ port: UInt16, until end: MonotonicTime) throws(TCPConnection.Problem) -> TCPConnection
    {
        do throws(TCPConnection.Problem) { return try TCPConnection("127.0.0.1", port, until: end) } catch {
            return try TCPConnection("::1", port, until: end)
        }
    }

    private static func link(_ id: String, _ answer: [UInt8]) -> PictureLink? {
        guard let gap = answer.firstRange(of: Array("\r\n\r\n".utf8)),
            let message = try? JSONReader.read(Array(answer[gap.upperBound...]))
        else { return nil }
        guard let address = message["result"]?["address"]?.stringValue,
            let until = message["result"]?["until"]?.doubleValue,
            address.hasPrefix("http://") || address.hasPrefix("https://"), address.utf8.count <= 1024,
            address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") })
        else {
            // The next item repeats the request; the next event of this item does not.
            return message["error"] == nil ? nil : PictureLink(id: id, address: nil, until: now + 2 * reserve)
        }
        return PictureLink(id: id, address: address, until: until)
    }
}
