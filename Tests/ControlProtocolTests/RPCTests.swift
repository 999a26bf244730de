import ControlProtocol
import Testing

@Suite struct RPCTests {
    private static func read(_ text: String) -> RPCLine { Array(text.utf8).withUnsafeBytes { RPCLine.read($0) } }

    @Test(arguments: [
        "1", "-1.50e+2", "null", "\"a\\u0041\"", "12345678901234567890123", "\"é\"", "0.10",
    ])
    func theIdComesBackByteForByte(_ id: String) throws {
        guard
            case .single(.request(let request)) = Self.read(
                "{\"id\" : \(id) ,\"jsonrpc\":\"2.0\",\"method\":\"hello\"}")
        else {
            Issue.record("not a request")
            return
        }
        #expect(request.id == Array(id.utf8))
    }

    @Test func aRequestWithoutIdIsANotification() throws {
        guard case .single(.request(let request)) = Self.read(#"{"jsonrpc":"2.0","method":"play","extra":[1]}"#) else {
            Issue.record("not a request")
            return
        }
        #expect(request.id == nil)
        #expect(request.method == "play")
        #expect(request.parameters == JSONObject())
    }

    @Test(arguments: [
        ("", -32700, "null"), ("{", -32700, "null"), ("hello", -32700, "null"), ("{}", -32600, "null"),
        ("[]", -32600, "null"), ("1", -32600, "null"), ("\"x\"", -32600, "null"),
        (#"{"jsonrpc":"2.0","id":[1],"method":"play"}"#, -32600, "null"),
        (#"{"jsonrpc":"2.0","id":true,"method":"play"}"#, -32600, "null"),
        (#"{"jsonrpc":"2.0","id":{},"method":"play"}"#, -32600, "null"),
        (#"{"id":7,"method":"play"}"#, -32600, "7"), (#"{"jsonrpc":"1.0","id":7,"method":"play"}"#, -32600, "7"),
        (#"{"jsonrpc":2.0,"id":7,"method":"play"}"#, -32600, "7"), (#"{"jsonrpc":"2.0","id":7}"#, -32600, "7"),
        (#"{"jsonrpc":"2.0","id":7,"method":1}"#, -32600, "7"),
        (#"{"jsonrpc":"2.0","id":7,"method":"play","params":[]}"#, -32602, "7"),
        (#"{"jsonrpc":"2.0","id":7,"method":"play","params":null}"#, -32600, "7"),
        (#"{"jsonrpc":"2.0","id":7,"method":"play"} x"#, -32700, "null"),
    ])
    func refuses(_ text: String, _ code: Int, _ id: String) throws {
        guard case .single(.invalid(let answered, let error)) = Self.read(text) else {
            Issue.record("taken as a request")
            return
        }
        #expect(error.code == code)
        #expect(answered == Array(id.utf8))
    }

    @Test func batches() throws {
        guard case .batch(let elements) = Self.read(#" [{"jsonrpc":"2.0","method":"play","id":1}, 5, {}] "#) else {
            Issue.record("not a batch")
            return
        }
        #expect(elements.count == 3)
        guard case .request = elements[0], case .invalid = elements[1], case .invalid = elements[2] else {
            Issue.record("wrong elements")
            return
        }
        let step = #"{"jsonrpc":"2.0","method":"play"}"#
        func batch(_ count: Int) -> String { "[" + Array(repeating: step, count: count).joined(separator: ",") + "]" }
        guard case .batch(let most) = Self.read(batch(1000)) else {
            Issue.record("1,000 must be taken")
            return
        }
        #expect(most.count == 1000)
        guard case .single(.invalid(_, let error)) = Self.read(batch(1001)) else {
            Issue.record("1,001 must not be taken")
            return
        }
        #expect(error.code == -32600)
    }

    @Test func numbersOutOfRangeBelongToTheirRequest() throws {
        let text = """
            [{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1e999}},{"jsonrpc":"2.0","id":1e999,"method":"a"}]
            """
        guard case .batch(let elements) = Self.read(text), case .request(let first) = elements[0],
            case .request(let second) = elements[1]
        else {
            Issue.record("not a batch of requests")
            return
        }
        #expect(first.hasNotFiniteNumber)
        #expect(!second.hasNotFiniteNumber)
    }

    @Test func answers() {
        var writer = JSONWriter()
        writer.answer(id: Array("\"x\"".utf8), result: ["a": 1])
        writer.newline()
        writer.answer(id: RPCLine.nullID, error: .noSuchContent("gone", reason: .otherItem, uris: ["/a"]))
        writer.newline()
        writer.notification("nowPlaying.changed", parameters: Array("{}".utf8))
        #expect(
            String(decoding: writer.bytes, as: UTF8.self) == """
                {"jsonrpc":"2.0","id":"x","result":{"a":1}}
                {"jsonrpc":"2.0","id":null,"error":{"code":100,"message":"gone","data":{"status":"noSuchContent",\
                "reason":"otherItem","uris":["/a"]}}}
                {"jsonrpc":"2.0","method":"nowPlaying.changed","params":{}}
                """)
    }
}
