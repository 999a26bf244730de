import Glibc
import NowPlaying

/// The identity of this bridge in the network, which lasts as long as the installation of the machine.
package enum BridgeIdentity {
    /// 32 hexadecimal digits for the bridge of a user: a digest, so that nobody learns the machine's own number.
    package static func make(user: UInt32 = geteuid(), machine: String = machine) -> String {
        String(DeviceToken.digest("nowplaying-web\n\(machine)\n\(user)").prefix(32))
    }

    /// The number of this machine (machine-id(5)), or its name where it has none.
    package static var machine: String {
        guard let file = fopen("/etc/machine-id", "re") else { return HostRule.machine }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 64)
        guard fgets(&line, 64, file) != nil else { return HostRule.machine }
        return String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
