package import ControlProtocol

/// A line of the control protocol of a Snapcast server: JSON-RPC over TCP, without a password.
/// Specification: Snapcast, doc/json_rpc_api/control.md.
package enum ControlLine: Equatable, Sendable {
    /// The result of the request with this number.
    case result(Int64, JSONValue)
    /// The refusal of the request with this number, in the server's words.
    case refusal(Int64, String)
    /// News, by the name of the notification; empty: it has none.
    case news(String)

    /// Most bytes of a line; the properties of a stream may have a picture.
    package static let maximumBytes = 4 << 20

    /// Reads a line without its end; nil: it is no JSON.
    package init?(_ line: [UInt8]) {
        guard let value = try? JSONReader.read(line) else { return nil }
        guard let number = value["id"]?.integerValue else {
            self = .news(value["method"]?.stringValue ?? "")
            return
        }
        if let error = value["error"] {
            let words = error["data"]?.stringValue ?? error["message"]?.stringValue ?? "no reason given"
            self = .refusal(number, words)
        } else {
            self = .result(number, value["result"] ?? .null)
        }
    }

    /// A request without the end of its line.
    package static func request(_ number: Int64, _ method: String, _ parameters: JSONValue? = nil) -> [UInt8] {
        var request = JSONObject([
            .init("jsonrpc", "2.0"), .init("id", .integer(number)), .init("method", .string(method)),
        ])
        if let parameters { request["params"] = parameters }
        return Array((JSONWriter.text(.object(request)) + "\r").utf8)
    }
}
