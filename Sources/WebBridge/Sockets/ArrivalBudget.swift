import LinuxSystem
import WebAccess

/// The bytes of messages and bodies that have not arrived completely. Each caller, and all together, hold so many at most.
///
/// Short messages are free: their number has a bound by that of connections. Those of the daemon's own user take no place of
/// others.
@PlayerLoop final class ArrivalBudget {
    /// The bytes that one message holds. Its end gives them back.
    @PlayerLoop final class Share {
        private let budget: ArrivalBudget
        private let caller: AccessCaller
        private var counted = 0

        fileprivate init(_ budget: ArrivalBudget, _ caller: AccessCaller) {
            self.budget = budget
            self.caller = caller
        }

        isolated deinit { set(0) }

        /// Holds this many bytes in place of those before. False: there is no room; the share is unchanged.
        @discardableResult func set(_ bytes: Int) -> Bool {
            let wanted = max(0, bytes - ArrivalBudget.free)
            guard budget.change(caller, by: wanted - counted) else { return false }
            counted = wanted
            return true
        }
    }

    private var held: [AccessCaller.Identity: Int] = [:]
    /// Of all callers but the daemon's own user.
    private var total = 0

    /// Bytes of a message that do not count.
    static let free = 8 << 10
    /// Maximum bytes of one caller.
    static let callerLimit = 2 << 20
    /// Maximum bytes of all callers together, except the daemon's own user.
    static let limit = 8 << 20

    /// A share of a caller, without bytes.
    func share(_ caller: AccessCaller) -> Share { Share(self, caller) }

    private func change(_ caller: AccessCaller, by bytes: Int) -> Bool {
        let own = held[caller.identity, default: 0] + bytes
        let isOwner = caller.isOwner
        guard bytes <= 0 || own <= Self.callerLimit && (isOwner || total + bytes <= Self.limit) else { return false }
        held[caller.identity] = own == 0 ? nil : own
        if !isOwner { total += bytes }
        return true
    }
}
