import NowPlaying
import WebAccess

/// A service of this machine for discovery in the network (RFC 6763).
struct NetworkService: Equatable, Sendable {
    /// Name for people; if it is taken, another one is chosen.
    let name: String
    /// The port of the page.
    let port: UInt16
    /// Facts as `key=value`.
    let facts: [String]

    /// The page at its first address that other machines can reach. Nil: there is none.
    init?(_ reach: WebReach, _ settings: WebSettings, machine: String = HostRule.machine) {
        guard let listener = reach.listeners.first(where: { !$0.isLoopback }) else { return nil }
        name = Self.name("nowplayingd on \(machine)", number: 1)
        port = listener.port
        let access =
            switch settings.anonymous {
            case .none: "pair"
            case .read: "read"
            }
        facts = [
            "id=\(BridgeIdentity.make())", "name=\(machine)", "version=\(Product.version)",
            "path=\(settings.basePath.folder)", "tls=\(settings.usesTLS ? 1 : 0)", "auth=\(access)",
        ]
    }

    /// A name with a number from 2 on, of at most 63 bytes (RFC 6763, section 4.1.1).
    static func name(_ text: String, number: Int) -> String {
        let ending = number > 1 ? " #\(number)" : ""
        var name = ""
        for character in text {
            guard name.utf8.count + character.utf8.count + ending.utf8.count <= 63 else { break }
            name.append(character)
        }
        return name + ending
    }
}
