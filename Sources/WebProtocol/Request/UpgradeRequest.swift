import CMessageDigest

/// The opening handshake of a WebSocket (RFC 6455, section 4.2).
package struct UpgradeRequest: Equatable, Sendable {
    /// The value of `Sec-WebSocket-Accept`.
    package let accept: String
    /// The subprotocol to name in the answer; nil: the client offers none.
    package let subprotocol: String?

    /// The subprotocol of JSON-RPC lines.
    package static let subprotocol = "nowplaying.1"

    /// Reads the handshake of a request for a WebSocket.
    package init(_ head: RequestHead) throws(HTTPFault) {
        guard head.method == .get else { throw .method("GET") }
        guard head.elements("connection").contains("upgrade"), head.elements("upgrade") == ["websocket"] else {
            throw HTTPFault(
                .upgradeRequired, "this path takes POST, or GET with an upgrade to WebSocket",
                headers: ["Upgrade": "websocket"])
        }
        guard head.value("sec-websocket-version") == "13" else {
            throw HTTPFault(
                .upgradeRequired, "the version of WebSocket has to be 13", headers: ["Sec-WebSocket-Version": "13"])
        }
        guard let key = head.value("sec-websocket-key"), Self.isKey(Array(key.utf8)) else {
            throw HTTPFault(.badRequest, "Sec-WebSocket-Key has to be 16 bytes in Base64")
        }
        let offered = head.values("sec-websocket-protocol").flatMap { $0.split(separator: ",") }
            .map(RequestHead.trimmed)
        guard offered.isEmpty || offered.contains(Self.subprotocol) else {
            throw HTTPFault(.badRequest, "the subprotocol has to be “\(Self.subprotocol)”")
        }
        subprotocol = offered.isEmpty ? nil : Self.subprotocol
        accept = Self.accept(key)
    }

    /// True if a request asks for an upgrade of any kind.
    package static func isWanted(_ head: RequestHead) -> Bool { !head.values("upgrade").isEmpty }

    /// 16 bytes are 22 characters and two signs of padding, and the last character has four bits that are zero.
    private static func isKey(_ key: [UInt8]) -> Bool {
        key.count == 24 && key.suffix(2) == [UInt8(ascii: "="), UInt8(ascii: "=")]
            && key.prefix(22).allSatisfy { Base64.alphabet.contains($0) } && "AQgw".utf8.contains(key[21])
    }

    /// SHA-1 of the key and the text of RFC 6455, in Base64.
    static func accept(_ key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var context = SHA1_CTX()
        SHA1Init(&context)
        SHA1Update(&context, text, text.count)
        var digest = [UInt8](repeating: 0, count: 20)
        SHA1Final(&digest, &context)
        return Base64.text(digest)
    }
}
