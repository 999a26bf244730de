import AudioCore
import NowPlaying

/// Plan of the attempts to open a source on the network that cannot be reached.
struct SourceTries: Equatable {
    let item: ItemID
    /// Reason of the last failure; `sourceLate` before it.
    private(set) var reason = StallReason.sourceLate
    /// Instant of the first failure of the address in a row; nil: none.
    private var firstFailure: MonotonicTime?
    /// Failures of the address in a row.
    private var failures = 0
    /// Last delay in seconds, growing.
    private var pause = 0.0
    /// True if no other item is left to play: then the attempts never end.
    private let isLast: Bool

    /// Seconds from the first failure of an address to the second and the third attempt: three within a minute.
    static let instants = [10.0, 40.0]
    /// Shortest and longest delay in seconds while the network is down.
    static let networkPauses = (1.0, 60.0)
    /// The same for an address after its third failure, if no other item is left to play.
    static let addressPauses = (30.0, 600.0)

    /// Attempts for an item. `isLast`: no other item is left to play.
    init(_ item: ItemID, isLast: Bool = false) {
        self.item = item
        self.isLast = isLast
    }

    /// Notes a failure; returns the instant of the next attempt. Nil: the address has failed too often.
    mutating func failed(_ kind: DecodingError.Kind, at now: MonotonicTime) -> MonotonicTime? {
        if kind == .noNetwork {
            if reason != .noNetwork { pause = 0 }
            reason = .noNetwork
            firstFailure = nil
            failures = 0
            return wait(Self.networkPauses, from: now)
        }
        if reason != .unreachable { pause = 0 }
        reason = .unreachable
        if isLast { return wait(Self.addressPauses, from: now) }
        let first = firstFailure ?? now
        firstFailure = first
        failures += 1
        guard failures <= Self.instants.count else { return nil }
        return max(now.advanced(bySeconds: 1), first.advanced(bySeconds: Self.instants[failures - 1]))
    }

    /// Notes a change of the network: the next delay is short.
    mutating func networkChanged() { pause = 0 }

    private mutating func wait(_ pauses: (Double, Double), from now: MonotonicTime) -> MonotonicTime {
        pause = min(pauses.1, max(pauses.0, 2 * pause))
        return now.advanced(bySeconds: pause)
    }
}
