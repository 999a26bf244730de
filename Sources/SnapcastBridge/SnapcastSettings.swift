package import BridgeRuntime

/// The section `[snapcast]` of the configuration.
package struct SnapcastSettings: BridgeSettings, Equatable {
    /// True if clients of the Snapcast server may control playback. These are all machines of the LAN, as the server has no
    /// passwords.
    package var allowsCommands = false
    /// True if the server's clients get addresses of pictures.
    package var hasPictures = true
    /// The port at which nowplaying-web listens on this machine.
    package var webPort: UInt16 = 8088

    /// The defaults.
    package init() {}

    package static let section = "snapcast"

    package static let all: [BridgeSetting<SnapcastSettings>] = [
        .flag("commands", \.allowsCommands),
        .flag("pictures", \.hasPictures),
        BridgeSetting("web-port", takes: "a port from 1 to 65535") { settings, text in
            guard let port = UInt16(text), port > 0 else { return false }
            settings.webPort = port
            return true
        },
    ]

    package var contradiction: String? { nil }
}
