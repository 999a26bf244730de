/// One received request, before the check by the catalogue.
package struct RPCRequest: Sendable {
    /// The received bytes of `id`; nil: a notification, which is carried out and not answered.
    package var id: [UInt8]?
    package var method: String
    package var parameters: JSONObject
    /// True if a number in the parameters exceeds the range of a double.
    package var hasNotFiniteNumber = false
}

/// One element of a line: a request, or the fault of an invalid one with the bytes of the id for the answer.
package enum RPCElement: Sendable {
    case request(RPCRequest)
    case invalid(id: [UInt8], RPCError)
    /// The answer to a request of the server.
    case response(RPCResponse)
}

/// A client's answer to a request of the daemon.
package struct RPCResponse: Sendable {
    /// The received bytes of `id`.
    package var id: [UInt8]
    /// Nil: the answer is an error.
    package var result: JSONValue?
    /// The error's message; nil: there is none.
    package var errorMessage: String?
}

/// Content of one line.
package enum RPCLine: Sendable {
    case single(RPCElement)
    /// From one to `RPCLine.maximumBatch` elements.
    case batch([RPCElement])

    /// Maximum elements of a batch.
    package static let maximumBatch = 1000
    /// The id of an answer to a request without a readable id.
    package static let nullID = Array("null".utf8)

    /// Reads a line (without its end). Text that is not JSON, or a batch that is empty or too long, is one `invalid`.
    package static func read(_ bytes: UnsafeRawBufferPointer) -> RPCLine {
        var reader = JSONReader(bytes)
        do throws(JSONError) {
            guard reader.peek() == UInt8(ascii: "[") else {
                let element = try self.element(&reader)
                try reader.end()
                return .single(element)
            }
            var elements: [RPCElement] = []
            var count = 0
            try reader.array { (reader) throws(JSONError) in
                count += 1
                if count <= maximumBatch {
                    elements.append(try self.element(&reader))
                } else {
                    _ = try reader.value()
                }
            }
            try reader.end()
            if count == 0 { return .single(.invalid(id: nullID, .invalidRequest("an empty batch"))) }
            if count > maximumBatch {
                let words = "a batch of \(count) requests; the limit is \(maximumBatch)"
                return .single(.invalid(id: nullID, .invalidRequest(words)))
            }
            return .batch(elements)
        } catch {
            return .single(.invalid(id: nullID, .parse(error.message)))
        }
    }

    /// Members of a request object.
    private struct Parts {
        var id: [UInt8]?
        var isIDValid = true
        var version: JSONValue?
        var method: JSONValue?
        var parameters: JSONValue?
        var hasNotFiniteNumber = false
        var result: JSONValue?
        var error: JSONValue?
    }

    private static func element(_ reader: inout JSONReader) throws(JSONError) -> RPCElement {
        guard reader.peek() == UInt8(ascii: "{") else {
            let value = try reader.value()
            return .invalid(id: nullID, .invalidRequest("a request is an object, not \(value.kindName)"))
        }
        var parts = Parts()
        try reader.object { (reader, name) throws(JSONError) in
            switch name {
            case "id":
                _ = reader.peek()
                let start = reader.offset
                switch try reader.value() {
                case .string, .integer, .number, .null: parts.isIDValid = true
                default: parts.isIDValid = false
                }
                parts.id = [UInt8](reader.bytes[start..<reader.offset])
            case "jsonrpc": parts.version = try reader.value()
            case "method": parts.method = try reader.value()
            case "params":
                reader.forgetNotFinite()
                parts.parameters = try reader.value()
                parts.hasNotFiniteNumber = reader.sawNotFinite
            case "result": parts.result = try reader.value()
            case "error": parts.error = try reader.value()
            default: _ = try reader.value()
            }
        }
        return judge(parts)
    }

    private static func judge(_ parts: Parts) -> RPCElement {
        guard parts.isIDValid else {
            return .invalid(id: nullID, .invalidRequest("“id” must be a string, a number or null"))
        }
        func invalid(_ error: RPCError) -> RPCElement { .invalid(id: parts.id ?? nullID, error) }
        guard parts.version == "2.0" else {
            return invalid(.invalidRequest("“jsonrpc” must be \"2.0\""))
        }
        if parts.method == nil, let id = parts.id, parts.result != nil || parts.error != nil {
            let message = parts.error?["message"]?.stringValue
            return .response(RPCResponse(id: id, result: parts.result, errorMessage: message))
        }
        guard case .string(let method)? = parts.method else {
            return invalid(.invalidRequest("“method” must be a string"))
        }
        let parameters: JSONObject
        switch parts.parameters {
        case nil: parameters = JSONObject()
        case .object(let object)?: parameters = object
        // JSON-RPC 2.0 allows an array there: the request is valid, and its parameters are not.
        case .array?:
            return invalid(.invalidParameter(nil, "“params” must be an object, not an array: parameters have names"))
        case let other?: return invalid(.invalidRequest("“params” must be an object, not \(other.kindName)"))
        }
        return .request(
            RPCRequest(
                id: parts.id, method: method, parameters: parameters, hasNotFiniteNumber: parts.hasNotFiniteNumber))
    }
}
