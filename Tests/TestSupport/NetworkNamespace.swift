import Glibc
import Synchronization

/// A network namespace with one cable to ours, and a time namespace: another host on this machine, whose clock was started at
/// another time. It ends with this object.
package final class NetworkNamespace: Sendable {
    /// Its address.
    package let address: String
    /// Words in front of a command line that runs there.
    package let words: [String]
    /// The same with our clock.
    package let inside: [String]
    /// Our address at the other end of the cable.
    package let ours: String
    private let cable: String
    /// Seconds by which the clock of `words` is ahead of ours.
    package let lead = 5000.0
    /// A process that keeps it.
    private let keeper: TestProcess

    private static let number = Atomic<Int>(0)

    /// Makes one; nil: this user or kernel may not.
    package static func make() async -> NetworkNamespace? { await LoopThread.run { NetworkNamespace() } }

    private init?() {
        let number = Self.number.wrappingAdd(1, ordering: .relaxed).newValue
        let keeper = TestProcess(["unshare", "--net", "sleep", "infinity"], environment: currentEnvironment())
        self.keeper = keeper
        let (pid, ours) = ("\(keeper.pid)", Self.network(of: getpid()))
        let inside = ["nsenter", "--target", pid, "--net"]
        self.inside = inside
        words = inside + ["unshare", "--time", "--fork", "--kill-child", "--monotonic", "\(Int(lead))"]
        let (here, there) = ("npa\(getpid() % 100_000)\(number)", "npb\(getpid() % 100_000)\(number)")
        let (base, first) = ("10.213.\(getpid() & 255)", 4 * (number & 63))
        address = "\(base).\(first + 2)"
        self.ours = "\(base).\(first + 1)"
        cable = there
        guard becomes({ Self.network(of: keeper.pid) != ours }) else {
            keeper.end()
            return nil
        }
        let commands = [
            ["ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", pid],
            ["ip", "address", "add", "\(base).\(first + 1)/30", "dev", here], ["ip", "link", "set", here, "up"],
            inside + ["ip", "address", "add", "\(address)/30", "dev", there],
            inside + ["ip", "link", "set", there, "up"], inside + ["ip", "link", "set", "lo", "up"], words + ["true"],
        ]
        for command in commands where TestProcess.run(command).status != 0 {
            keeper.end()
            return nil
        }
    }

    deinit { keeper.end() }

    /// Plugs the cable in, or out: with it go its addresses of IPv6 and all routes.
    package func setCable(plugged: Bool) {
        _ = TestProcess.run(inside + ["ip", "link", "set", cable, plugged ? "up" : "down"])
    }

    /// Name of the network namespace of a process; empty: it has none, or has ended.
    private static func network(of process: pid_t) -> String {
        var name = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/\(process)/ns/net", &name, name.count)
        return String(decoding: name.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
