import CWSLay

extension WebSocket {
    /// Reasons to close, by their numbers on the wire (RFC 6455, section 7.4.1).
    enum Code: UInt16 {
        case goingAway = 1001
        case protocolError = 1002
        case unsupportedData = 1003
        case policyViolation = 1008
        case tooBig = 1009
        case internalError = 1011
        case serviceRestart = 1012
        case tryAgainLater = 1013
    }
}

/// Parts of frames that the bridge makes without libwslay.
enum WebSocketFrame {
    /// Maximum bytes of the reason in a close frame.
    private static let maximumReason = 123

    /// Writes the head of a text of this length (RFC 6455, section 5.2). Returns its length.
    static func writeHead(_ count: Int, _ space: UnsafeMutableRawBufferPointer) -> Int {
        space[0] = 0x80 | UInt8(WSLAY_TEXT_FRAME.rawValue)
        if count < 126 {
            space[1] = UInt8(count)
            return 2
        }
        let bytes = count < 65_536 ? 2 : 8
        space[1] = bytes == 2 ? 126 : 127
        for index in 0..<bytes { space[2 + index] = UInt8(truncatingIfNeeded: count >> (8 * (bytes - 1 - index))) }
        return 2 + bytes
    }

    /// The reason, cut to the whole characters that fit the frame (RFC 6455, section 5.5).
    static func reason(_ words: String) -> [UInt8] {
        var reason: [UInt8] = []
        for character in words {
            guard reason.count + character.utf8.count <= maximumReason else { break }
            reason += Array(character.utf8)
        }
        return reason
    }

    /// A frame that closes the connection, without words.
    static func closing(_ code: WebSocket.Code) -> [UInt8] {
        [0x88, 2, UInt8(code.rawValue >> 8), UInt8(code.rawValue & 255)]
    }
}
