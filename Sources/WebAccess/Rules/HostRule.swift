import Glibc

/// The names under which this machine serves. A page of another site whose name was bound to this machine's address (DNS
/// rebinding) sends its own name. IP addresses cannot be rebound.
package struct HostRule: Sendable {
    /// In lower case.
    private let names: Set<String>

    /// Allows IP addresses, `localhost`, the machine's name, that name in `.local`, and the names of the settings.
    package init(_ settings: WebSettings, machine: String = Self.machine) {
        var names: Set<String> = ["localhost"]
        if let own = HostName(machine), !own.isLiteral {
            let short = own.host.prefix { $0 != "." }
            names.formUnion([own.host, String(short), short + ".local"])
        }
        names.formUnion(settings.hosts)
        if let address = settings.address { names.insert(address.host.host) }
        self.names = names
    }

    /// True if requests for this host are for this machine.
    package func allows(_ host: HostName) -> Bool { host.isLiteral || names.contains(host.host) }

    /// The name of this machine (gethostname(2)).
    package static var machine: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
