import LinuxSystem
import NowPlaying

/// The pace at which foreign users may connect. Without a bound, a user who connects again and again would delay the next
/// connection of the owner.
@PlayerLoop final class ConnectionPace {
    private struct Allowance {
        var connections: Double
        var time: MonotonicTime
    }

    /// Connections that a user may make at once, and further ones a second.
    private static let (atOnce, perSecond) = (1024.0, 50.0)
    private var allowances: [UInt32: Allowance] = [:]

    /// Nobody has connected.
    init() {}

    /// Counts a connection of a user. False: the user connects too often.
    func admits(_ user: UInt32, at now: MonotonicTime) -> Bool {
        var allowance = allowances[user] ?? Allowance(connections: Self.atOnce, time: now)
        let passed = max(0, now.seconds(since: allowance.time))
        allowance.connections = min(Self.atOnce, allowance.connections + passed * Self.perSecond)
        allowance.time = now
        defer { allowances[user] = allowance }
        guard allowance.connections >= 1 else { return false }
        allowance.connections -= 1
        return true
    }

    /// Forgets users without connections whose allowance is whole by now.
    func tidy(at now: MonotonicTime) {
        allowances = allowances.filter {
            $0.value.connections + now.seconds(since: $0.value.time) * Self.perSecond < Self.atOnce
        }
    }
}
