extension JSONWriter {
    /// A successful answer, without the line end. `id` and `result` are JSON.
    package mutating func answer(id: [UInt8], result: [UInt8]) {
        beginAnswer(id)
        raw(result)
        endObject()
    }

    /// A successful answer, without the line end. `id` is JSON.
    package mutating func answer(id: [UInt8], result: JSONValue) {
        beginAnswer(id)
        value(result)
        endObject()
    }

    private mutating func beginAnswer(_ id: [UInt8]) {
        beginObject()
        key("jsonrpc")
        string("2.0")
        key("id")
        raw(id)
        key("result")
    }

    /// A failed answer, without the line end. `id` is JSON.
    package mutating func answer(id: [UInt8], error: RPCError) {
        beginObject()
        key("jsonrpc")
        string("2.0")
        key("id")
        raw(id)
        key("error")
        beginObject()
        key("code")
        integer(error.code)
        key("message")
        string(error.message)
        key("data")
        value(.object(error.data))
        endObject()
        endObject()
    }

    /// A notification, without the line end. `parameters` are JSON.
    package mutating func notification(_ method: String, parameters: [UInt8]) {
        beginObject()
        key("jsonrpc")
        string("2.0")
        key("method")
        string(method)
        key("params")
        raw(parameters)
        endObject()
    }

    /// A request, without the line end. `id` is JSON; nil: a notification, which gets no answer.
    package mutating func request(id: [UInt8]?, method: String, parameters: JSONObject) {
        beginObject()
        key("jsonrpc")
        string("2.0")
        if let id {
            key("id")
            raw(id)
        }
        key("method")
        string(method)
        if !parameters.members.isEmpty {
            key("params")
            value(.object(parameters))
        }
        endObject()
    }
}
