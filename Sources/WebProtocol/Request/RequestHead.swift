/// The head of a request of HTTP/1.1, checked. Sources: RFC 9110, RFC 9112.
package struct RequestHead: Sendable {
    /// A method that this server has.
    package enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case options = "OPTIONS"
    }

    package let method: Method
    package private(set) var target: RequestTarget
    /// Names in lower case, and values as they came.
    package let headers: [(name: String, value: String)]
    /// Length of the body in bytes, as the client announces it; nil: it comes in chunks.
    package let bodyLength: UInt64?

    /// Most bytes of a request line and its headers.
    package static let maximumBytes = 16 << 10

    /// Reads a head. Headers in the order in which they came; names may have any case.
    package init(
        method: String, target: String, version: String, headers: [(name: String, value: String)]
    ) throws(HTTPFault) {
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw HTTPFault(.versionNotSupported, "the version of HTTP has to be 1.1")
        }
        let headers = headers.map { (name: $0.name.lowercased(), value: $0.value) }
        for header in headers { try Self.check(header) }
        self.headers = headers
        bodyLength = try Self.bodyLength(headers, version)
        guard let known = Method(rawValue: method) else {
            throw HTTPFault(.methodNotAllowed, "the method has to be GET, HEAD, POST or OPTIONS")
        }
        self.method = known
        guard known == .post || bodyLength == 0 else {
            throw HTTPFault(.badRequest, "a request with the method \(method) has no body")
        }
        self.target = try RequestTarget(target)
        let hosts = headers.count { $0.name == "host" }
        guard hosts == 1 || version == "HTTP/1.0" && hosts == 0 else {
            throw HTTPFault(.badRequest, "a request needs one header Host")
        }
    }

    /// The head with its target as it is below a base path, of these parts. Throws for a target outside of it; a redirect is for
    /// readers alone.
    package func below(_ base: [String]) throws(HTTPFault) -> RequestHead {
        var head = self
        do throws(HTTPFault) { head.target = try target.below(base) } catch {
            let isRedirect = error.status == .temporaryRedirect
            throw isRedirect && method != .get && method != .head ? .notFound : error
        }
        return head
    }

    /// The values of a header, by its name in lower case.
    package func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// The value of a header that must occur once; nil: it is absent, or occurs several times.
    package func value(_ name: String) -> String? {
        let values = values(name)
        return values.count == 1 ? values[0] : nil
    }

    /// The elements of a header that is a list with commas, in lower case.
    package func elements(_ name: String) -> [String] {
        values(name).flatMap { $0.split(separator: ",") }.map { Self.trimmed($0).lowercased() }.filter { !$0.isEmpty }
    }

    /// A text without spaces and tabs at its ends.
    package static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }

    /// Throws if a header can be read in two ways by two programs (RFC 9112, section 5).
    private static func check(_ header: (name: String, value: String)) throws(HTTPFault) {
        guard !header.name.isEmpty, header.name.utf8.allSatisfy(isTokenByte) else {
            throw HTTPFault(.badRequest, "the name of a header has a byte that is not allowed")
        }
        guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw HTTPFault(.badRequest, "the value of a header has a control character")
        }
    }

    /// True for the bytes of a token (RFC 9110, section 5.6.2).
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case _: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// The length of the body. Two lengths are an attempt to hide a second request from a proxy (RFC 9112, section 6.1).
    private static func bodyLength(
        _ headers: [(name: String, value: String)], _ version: String
    ) throws(HTTPFault) -> UInt64? {
        let lengths = headers.filter { $0.name == "content-length" }.map(\.value)
        let codings = headers.filter { $0.name == "transfer-encoding" }.map(\.value)
        guard lengths.count + codings.count <= 1 else {
            throw HTTPFault(.badRequest, "the request has more than one length of its body")
        }
        if let coding = codings.first {
            guard coding.lowercased() == "chunked", version == "HTTP/1.1" else {
                throw HTTPFault(.badRequest, "the only transfer coding of a request is “chunked”")
            }
            return nil
        }
        guard let text = lengths.first else { return 0 }
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = UInt64(text)
        else { throw HTTPFault(.badRequest, "Content-Length is not a number") }
        return length
    }
}
