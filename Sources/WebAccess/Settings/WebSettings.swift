package import BridgeRuntime
package import SnapcastControl

/// The section `[web]`.
package struct WebSettings: BridgeSettings {
    package static let section = "web"

    /// Rights of callers without a token and without a known user.
    package enum Anonymous: String, Sendable {
        case none, read
    }

    /// Addresses at which browsers and programs connect; empty: `WebAddress.usual`.
    package var bind: [WebAddress] = []
    /// Addresses at which proxies connect. Their callers have no user of this machine.
    package var proxyBind: [WebAddress] = []
    /// The address at which other machines reach the page; nil: an address of this machine.
    package var address: PublicAddress?
    /// The path below which the bridge serves all of its paths.
    package var basePath = BasePath.root
    /// True if paired devices and users get the figures.
    package var metrics = false
    /// Further names of this machine, in lower case.
    package var hosts: [String] = []
    package var anonymous: Anonymous = .none
    /// Pages of other addresses that may call the daemon.
    package var origins: [WebOrigin] = []
    /// The file of the certificate chain, in PEM; nil: no TLS.
    package var certificate: String?
    /// The file of its private key, in PEM.
    package var key: String?
    /// The folder of the paired devices; nil: the default folder.
    package var stateDirectory: String?
    /// A program that speaks the text on its standard input, and its arguments; empty: none.
    package var speech: [String] = []
    /// The Snapcast server whose rooms the page shows; nil: the server to which the daemon plays.
    package var snapcastServer: ControlAddress?
    /// The group whose members may control the daemon: `control-group` of `[access]`.
    package private(set) var controlGroup: String?
    /// The group whose members may send remote commands: `remote-group` of `[access]`.
    package private(set) var remoteGroup: String?
    /// The group whose members may read: `read-group` of `[access]`.
    package private(set) var readGroup: String?

    /// The defaults.
    package init() {}

    package var contradiction: String? {
        if (certificate == nil) != (key == nil) {
            return "“certificate” and “key” belong together: name both files, or neither"
        }
        let doubled = proxyBind.first { bind.contains($0) && !$0.hasAnyPort }
        return doubled.map { "“bind” and “proxy-bind” have the same address \($0.text)" }
    }

    /// The addresses of `bind`, or the default.
    package var listeners: [WebAddress] { bind.isEmpty ? [.usual] : bind }

    /// True if connections at `bind` use TLS.
    package var usesTLS: Bool { certificate != nil }

    package static let all: [BridgeSetting<WebSettings>] = [
        BridgeSetting(
            "bind", takes: "addresses such as localhost:8088, *:8088 or [::1]:8088, one per line",
            clear: { $0.bind = [] },
            apply: { settings, text in
                guard let address = WebAddress(text), !address.isLocal else { return false }
                settings.bind.append(address)
                return true
            }),
        BridgeSetting(
            "proxy-bind", takes: "addresses such as localhost:8089 or /run/nowplaying-web/proxy.sock, one per line",
            clear: { $0.proxyBind = [] },
            apply: { settings, text in
                guard let address = WebAddress(text) else { return false }
                settings.proxyBind.append(address)
                return true
            }),
        BridgeSetting("address", takes: "an address such as box.lan:8088 or https://music.example.org") {
            $0.address = PublicAddress($1)
            return $0.address != nil
        },
        BridgeSetting(
            "base-path",
            takes: "a path such as /music, of at most \(BasePath.maximumBytes) bytes: letters, digits, “-”, “.”, “_” "
                + "and “~” between single slashes, no part “.” or “..”"
        ) {
            guard let path = BasePath($1) else { return false }
            $0.basePath = path
            return true
        },
        BridgeSetting(
            "hosts", takes: "names such as box.lan, with commas between them, without ports", clear: { $0.hosts = [] },
            apply: { settings, text in
                let names = Self.parts(text).map(HostName.init)
                for case let name? in names where !name.isLiteral && name.port == nil {
                    settings.hosts.append(name.host)
                }
                return names.allSatisfy { $0.map { !$0.isLiteral && $0.port == nil } ?? false }
            }),
        BridgeSetting("anonymous", takes: "none or read") { settings, text in
            guard let value = Anonymous(rawValue: text) else { return false }
            settings.anonymous = value
            return true
        },
        BridgeSetting(
            "origins", takes: "origins such as https://home.example.org:8123, with commas between them, without paths",
            clear: { $0.origins = [] },
            apply: { settings, text in
                let origins = Self.parts(text).map(WebOrigin.init)
                settings.origins += origins.compactMap { $0 }
                return origins.allSatisfy { $0 != nil }
            }),
        .flag("metrics", \.metrics),
        path("certificate", \.certificate),
        path("key", \.key),
        path("state-directory", \.stateDirectory),
        BridgeSetting("speech", takes: "an absolute path of a program and its arguments, separated by spaces") {
            $0.speech = $1.split { $0 == " " || $0 == "\t" }.map(String.init)
            return $0.speech.isEmpty || $0.speech[0].hasPrefix("/")
        },
        BridgeSetting("snapcast-server", takes: "a server such as box.lan or [::1]:1705") {
            $0.snapcastServer = ControlAddress($1)
            return $0.snapcastServer != nil
        },
    ]

    package static let borrowed: [String: [BridgeSetting<WebSettings>]] = [
        "access": [
            group("control-group", \.controlGroup), group("remote-group", \.remoteGroup),
            group("read-group", \.readGroup),
        ]
    ]

    private static func path(
        _ name: String, _ path: any WritableKeyPath<WebSettings, String?> & Sendable
    ) -> BridgeSetting<WebSettings> {
        BridgeSetting(name, takes: "an absolute path") { settings, text in
            settings[keyPath: path] = text
            return text.hasPrefix("/")
        }
    }

    private static func group(
        _ name: String, _ path: any WritableKeyPath<WebSettings, String?> & Sendable
    ) -> BridgeSetting<WebSettings> {
        BridgeSetting(name, takes: "the name or number of a group") { settings, text in
            settings[keyPath: path] = text.isEmpty ? nil : text
            return true
        }
    }

    /// The texts between commas, without spaces around them; none for an empty text.
    private static func parts(_ text: String) -> [String] {
        guard !text.allSatisfy({ $0 == " " || $0 == "\t" }) else { return [] }
        return text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            let start = part.drop { $0 == " " || $0 == "\t" }
            return String(
                start[..<(start.lastIndex { $0 != " " && $0 != "\t" }.map(start.index(after:)) ?? start.endIndex)])
        }
    }
}
