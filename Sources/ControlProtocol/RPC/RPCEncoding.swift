extension JSONWriter {
    /// A successful answer, without the end of the line. `id` and `result` are JSON already.
    package mutating func answer(id: [UInt8], result: [UInt8]) {
        beginAnswer(id)
        raw(result)
        endObject()
    }

    /// A successful answer, without the end of the line. `id` is JSON already.
    package mutating func answer(id: [UInt8], result: JSONValue) {
        beginAnswer(id)
        value(result)
        endObject()
    }

    private mutating func beginAnswer(_ id: [UInt8]) {
        beginObject()
        key("jsonrpc" as StaticString)
        string("2.0")
        key("id" as StaticString)
        raw(id)
        key("result" as StaticString)
    }

    /// A failed answer, without the end of the line. `id` is JSON already.
    package mutating func answer(id: [UInt8], error: RPCError) {
        beginObject()
        key("jsonrpc" as StaticString)
        string("2.0")
        key("id" as StaticString)
        raw(id)
        key("error" as StaticString)
        beginObject()
        key("code" as StaticString)
        integer(error.code)
        key("message" as StaticString)
        string(error.message)
        key("data" as StaticString)
        value(.object(error.data))
        endObject()
        endObject()
    }

    /// A notification, without the end of the line. `parameters` are JSON already.
    package mutating func notification(_ method: String, parameters: [UInt8]) {
        beginObject()
        key("jsonrpc" as StaticString)
        string("2.0")
        key("method" as StaticString)
        string(method)
        key("params" as StaticString)
        raw(parameters)
        endObject()
    }

    /// A request, without the end of the line. `id` is JSON already; nil: no answer is wanted.
    package mutating func request(id: [UInt8]?, method: String, parameters: JSONObject) {
        beginObject()
        key("jsonrpc" as StaticString)
        string("2.0")
        if let id {
            key("id" as StaticString)
            raw(id)
        }
        key("method" as StaticString)
        string(method)
        if !parameters.members.isEmpty {
            key("params" as StaticString)
            value(.object(parameters))
        }
        endObject()
    }
}
