import BridgeRuntime
import Glibc

/// An address at which the bridge listens.
package enum BindAddress: Hashable, Sendable {
    /// Host `*`: every address of this machine.
    case network(host: String, port: UInt16)
    case local(path: String)

    /// Port of MPD's protocol.
    package static let usualPort: UInt16 = 6600

    /// Reads `HOST:PORT`, `HOST`, `[::1]:6600`, `*:6600` and `/PATH`; nil: the text is none of these.
    package init?(_ text: String) {
        if text.hasPrefix("/") {
            guard text.utf8.count <= 107 else { return nil }
            self = .local(path: text)
            return
        }
        let (host, port): (Substring, Substring?)
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { return nil }
            host = parts[0]
            port = parts.count == 2 ? parts[1] : nil
        }
        guard !host.isEmpty, !host.contains(where: \.isWhitespace) else { return nil }
        guard let port else {
            self = .network(host: String(host), port: Self.usualPort)
            return
        }
        guard let number = UInt16(port), number > 0 else { return nil }
        self = .network(host: String(host), port: number)
    }

    /// The socket that libmpdclient tries first.
    package static var usualLocal: BindAddress {
        let folder = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        return .local(path: (folder ?? "/run") + "/mpd/socket")
    }

    /// The address in the configuration's notation.
    package var text: String { listener.text }

    /// The address for a listener.
    var listener: ListenerAddress {
        switch self {
        case .network(let host, let port): .network(host: host, port: port)
        case .local(let path): .local(path: path)
        }
    }
}
