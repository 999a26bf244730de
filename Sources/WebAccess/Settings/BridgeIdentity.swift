import Glibc
import NowPlaying

/// The identity of this bridge in the network. It is constant for an installation of the machine.
package enum BridgeIdentity {
    /// 32 hexadecimal digits for the bridge of a user: a digest, which does not reveal the machine's own id.
    package static func make(user: UInt32 = geteuid(), machine: String = machine) -> String {
        String(DeviceToken.digest("nowplaying-web\n\(machine)\n\(user)").prefix(32))
    }

    /// The id of this machine (machine-id(5)), or its name if it has no id.
    package static var machine: String {
        guard let file = fopen("/etc/machine-id", "re") else { return HostRule.machine }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 64)
        guard fgets(&line, 64, file) != nil else { return HostRule.machine }
        return String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
