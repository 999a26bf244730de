package import BridgeRuntime

/// The section `[mpris]` of the configuration.
package struct MPRISSettings: BridgeSettings, Equatable {
    /// The bus of the player.
    var bus = BusAddress.session
    /// Members of this group may control the player, besides the bridge's own user and root.
    var controlGroup: String?
    /// Members of this group may read.
    var readGroup: String?

    /// The defaults.
    package init() {}

    package static let section = "mpris"

    package static let all: [BridgeSetting<MPRISSettings>] = [
        BridgeSetting("bus", takes: "session, system or the address of a bus") { settings, text in
            guard let bus = BusAddress(text) else { return false }
            settings.bus = bus
            return true
        },
        BridgeSetting("control-group", takes: "the name or number of a group") { settings, text in
            settings.controlGroup = text
            return !text.isEmpty
        },
        BridgeSetting("read-group", takes: "the name or number of a group") { settings, text in
            settings.readGroup = text
            return !text.isEmpty
        },
    ]

    package var contradiction: String? { nil }
}
