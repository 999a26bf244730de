import BridgeRuntime
import Glibc
import NowPlayingClient

/// The section `[mqtt]`.
struct MQTTSettings: BridgeSettings {
    static let section = "mqtt"

    /// The broker's name or address.
    var host = "localhost"
    /// Nil: 1883, or 8883 with TLS.
    var port: Int32?
    var user: String?
    /// A file whose first line is the password; nil: the credential `mqtt-password` of systemd, if there is one.
    var passwordFile: String?
    var usesTLS = false
    /// Nil: the certificates of the system.
    var certificateAuthority: String?
    /// Client certificate for a broker that requires one.
    var certificate: String?
    var key: String?
    /// Name of this box in topics.
    var name = MQTTSettings.hostName
    /// Prefix of all topics; nil: `nowplaying/` and the name.
    var topic: String?
    /// True if commands are accepted.
    var takesCommands = false
    /// True if pictures are published.
    var publishesArtwork = false
    /// The prefix of Home Assistant's discovery; nil: none.
    var discovery: String?
    /// Seconds between keepalive packets; 0: the kernel's keepalive detects a lost broker.
    var keepAlive: Int32 = 0

    var contradiction: String? {
        if (certificate == nil) != (key == nil) { return "certificate and key belong together" }
        if !usesTLS, certificate != nil || certificateAuthority != nil { return "certificates need “tls = yes”" }
        if user == nil, passwordFile != nil { return "a password needs a user" }
        return nil
    }

    /// Prefix of all topics.
    var base: String { topic ?? "nowplaying/" + name }

    /// The name in identifiers: letters, digits, `_` and `-` alone.
    var node: String {
        String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") ? $0 : "_" })
    }

    static let all: [BridgeSetting<MQTTSettings>] = [
        BridgeSetting("host", takes: "the broker's name or address") {
            $0.host = $1
            return !$1.isEmpty && !$1.contains(" ")
        },
        BridgeSetting("port", takes: "a number from 1 to 65535") {
            $0.port = Int32($1) ?? 0
            return (1...65535).contains(Int32($1) ?? 0)
        },
        BridgeSetting("user", takes: "a name") {
            $0.user = $1
            return !$1.isEmpty
        },
        BridgeSetting("password-file", takes: "an absolute path") {
            $0.passwordFile = $1
            return $1.hasPrefix("/")
        },
        .flag("tls", \.usesTLS),
        BridgeSetting("ca-file", takes: "an absolute path of certificates in PEM form") {
            $0.certificateAuthority = $1
            return $1.hasPrefix("/")
        },
        BridgeSetting("certificate", takes: "an absolute path of a certificate in PEM form") {
            $0.certificate = $1
            return $1.hasPrefix("/")
        },
        BridgeSetting("key", takes: "an absolute path of a key in PEM form") {
            $0.key = $1
            return $1.hasPrefix("/")
        },
        BridgeSetting("name", takes: "text without /, + and #, at most 64 bytes") {
            $0.name = $1
            return isTopic($1) && !$1.contains("/") && $1.utf8.count <= 64
        },
        BridgeSetting("topic", takes: "a topic without + and #, at most 128 bytes") {
            $0.topic = $1
            return isTopic($1) && !$1.hasSuffix("/") && $1.utf8.count <= 128
        },
        .flag("commands", \.takesCommands),
        .flag("artwork", \.publishesArtwork),
        BridgeSetting("discovery", takes: "no, yes or Home Assistant's discovery prefix") {
            $0.discovery = $1 == "no" ? nil : $1 == "yes" ? "homeassistant" : $1
            return isTopic($1) && !$1.hasSuffix("/")
        },
        BridgeSetting("keepalive", takes: "0, or seconds from 5 to 65535") {
            $0.keepAlive = Int32($1) ?? -1
            return $0.keepAlive == 0 || (5...65535).contains($0.keepAlive)
        },
    ]

    private static func isTopic(_ text: String) -> Bool {
        !text.isEmpty && TerminalText.safe(text) == text && !text.contains { "+#$".contains($0) }
    }

    private static var hostName: String {
        var bytes = [UInt8](repeating: 0, count: 65)
        _ = bytes.withUnsafeMutableBytes { gethostname($0.bindMemory(to: CChar.self).baseAddress!, 64) }
        let text = String(decoding: bytes.prefix { $0 != 0 && $0 != UInt8(ascii: ".") }, as: UTF8.self)
        return isTopic(text) ? text : "box"
    }

    // MARK: The password

    /// The password; nil: none is given. It is read again for each start and stored nowhere else.
    func password() throws(BridgeFailure) -> String? {
        if let passwordFile { return try MQTTSettings.firstLine(of: passwordFile) }
        guard let folder = SocketLocation.variable("CREDENTIALS_DIRECTORY") else { return nil }
        let path = folder + "/mqtt-password"
        return access(path, F_OK) == 0 ? try MQTTSettings.firstLine(of: path) : nil
    }

    private static func firstLine(of path: String) throws(BridgeFailure) -> String {
        guard let file = fopen(path, "re") else {
            throw BridgeFailure(
                "cannot read the password file \(path): \(SystemText.error(errno))", isOfConfiguration: true)
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count).prefix { $0 != 10 && $0 != 13 && $0 != 0 }, as: UTF8.self)
    }
}
