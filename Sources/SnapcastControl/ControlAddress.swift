package import ControlProtocol

/// Host and port of the control protocol of a Snapcast server, as a person writes them.
package struct ControlAddress: Equatable, Sendable {
    /// A name, or an address without brackets.
    package let host: String
    /// Port of the control protocol.
    package let port: UInt16

    /// The usual port of the control protocol.
    package static let controlPort: UInt16 = 1705
    /// The port of the stream protocol.
    package static let streamPort: UInt16 = 1704

    /// Reads `HOST`, `HOST:PORT`, `[ADDRESS]:PORT` and a lone address of IPv6; nil: it is none of these.
    package init?(_ text: String) {
        var rest = Substring(text)
        var port: Substring?
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            let after = rest[rest.index(after: end)...]
            rest = rest[rest.index(after: rest.startIndex)..<end]
            guard after.isEmpty || after.hasPrefix(":") else { return nil }
            if !after.isEmpty { port = after.dropFirst() }
        } else if rest.filter({ $0 == ":" }).count == 1, let colon = rest.firstIndex(of: ":") {
            port = rest[rest.index(after: colon)...]
            rest = rest[..<colon]
        }
        host = String(rest)
        guard Self.isHost(host) else { return nil }
        guard let port else {
            self.port = Self.controlPort
            return
        }
        guard port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = UInt16(port), number > 0
        else { return nil }
        self.port = number
    }

    /// The server to which the daemon plays, from the result of `output.list`; nil: it plays elsewhere.
    package init?(outputs: JSONValue) {
        let output = outputs["outputs"]?.arrayValue?.first { $0["name"] == "snapcast" }
        // The port there is that of the source.
        guard let host = output?["server"]?["host"]?.stringValue, Self.isHost(host) else { return nil }
        self.host = host
        port = Self.controlPort
    }

    /// The server of a line of `avahi-browse --resolve --parsable`, which anybody in the network can cause:
    /// `=;interface;protocol;name;type;domain;host;address;port;text`. Nil: it is of another kind, or its address works only with the
    /// name of its interface.
    package init?(announcement line: Substring) {
        let fields = line.split(separator: ";", maxSplits: 9, omittingEmptySubsequences: false)
        guard fields.count >= 9, fields[0] == "=", !fields[7].hasPrefix("fe80:") else { return nil }
        let host = fields[7].contains(":") ? "[\(fields[7])]" : String(fields[7])
        self.init("\(host):\(fields[8])")
    }

    private static func isHost(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// For people.
    package var text: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return port == Self.controlPort ? host : "\(host):\(port)"
    }
}
