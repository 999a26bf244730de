import Glibc

/// A bus and its address.
enum BusAddress: Equatable, Sendable {
    case session
    case system
    /// An address in D-Bus's notation: `unix:path=/run/bus`.
    case address(String)

    /// Reads `session`, `system` or an address. Nil when it is none of these.
    init?(_ text: String) {
        switch text {
        case "session": self = .session
        case "system": self = .system
        default:
            guard text.contains(":"), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
            self = .address(text)
        }
    }

    /// Address of the bus. Specification: D-Bus, well-known message bus instances.
    func text(environment: (String) -> String?, user: UInt32 = getuid()) -> String {
        switch self {
        case .address(let text): text
        case .session:
            if let text = environment("DBUS_SESSION_BUS_ADDRESS"), !text.isEmpty {
                text
            } else if let folder = environment("XDG_RUNTIME_DIR"), folder.hasPrefix("/") {
                "unix:path=" + Self.escaped(folder) + "/bus"
            } else {
                "unix:path=/run/user/\(user)/bus"
            }
        case .system:
            if let text = environment("DBUS_SYSTEM_BUS_ADDRESS"), !text.isEmpty {
                text
            } else {
                "unix:path=/run/dbus/system_bus_socket"
            }
        }
    }

    /// A session bus admits only its own user and root. All users may share any other bus.
    var signalScope: SignalReceivers.Scope {
        switch self {
        case .session: .everybody
        case .system, .address: .admitted
        }
    }

    /// A path whose bytes are escaped where an address cannot hold them. Specification: D-Bus, server addresses.
    static func escaped(_ path: String) -> String {
        var result = ""
        for byte in path.utf8 {
            let scalar = Unicode.Scalar(byte)
            if byte < 0x80, Character(scalar).isLetter || Character(scalar).isNumber || "-_/.\\*".utf8.contains(byte) {
                result.unicodeScalars.append(scalar)
            } else {
                result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
        return result
    }
}
