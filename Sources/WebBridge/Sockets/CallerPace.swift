import Glibc
import LinuxSystem
import NowPlaying
import WebAccess

/// The processor time of callers. One that uses up its credit waits, so that the requests of others are served in between.
///
/// A credit grows with time up to a burst. The daemon's own user does not wait. A timer exists only while a caller waits.
@PlayerLoop final class CallerPace {
    private struct Account {
        var credit = CallerPace.burst
        var at: MonotonicTime
        var waiting: [@PlayerLoop () -> Void] = []
        var timer: EventSource?
    }

    private let loop: EventLoop
    private var accounts: [AccessCaller.Identity: Account] = [:]

    /// Seconds of the processor that a caller may use at once.
    nonisolated static let burst = 0.02
    /// Seconds of the processor in a second that one caller gets.
    nonisolated static let share = 0.2
    /// Maximum number of accounts; one in full credit and without a wait is forgotten.
    private static let maximumAccounts = 256

    /// A pace without accounts.
    init(_ loop: EventLoop) { self.loop = loop }

    /// Runs work of a caller, and charges its time. False: the caller has no credit; `later` is called once when it has.
    func run(_ caller: AccessCaller, _ work: @PlayerLoop () -> Void, later: @escaping @PlayerLoop () -> Void) -> Bool {
        guard !caller.isOwner else {
            work()
            return true
        }
        let now = MonotonicTime.now
        var account = accounts[caller.identity] ?? Account(at: now)
        account.credit = min(Self.burst, account.credit + now.seconds(since: account.at) * Self.share)
        account.at = now
        guard account.credit > 0, account.waiting.isEmpty else {
            account.waiting.append(later)
            accounts[caller.identity] = account
            watch(caller.identity)
            return false
        }
        accounts[caller.identity] = account
        let start = Self.used
        work()
        let spent = Self.used - start
        accounts[caller.identity]?.credit -= spent
        if accounts.count > Self.maximumAccounts { forget(now) }
        return true
    }

    private func watch(_ identity: AccessCaller.Identity) {
        guard let account = accounts[identity], account.timer == nil else { return }
        // Half of the burst, so that a caller who waits does some work at a time.
        let seconds = max(0.001, (Self.burst / 2 - account.credit) / Self.share)
        accounts[identity]?.timer = loop.deadline(account.at.advanced(bySeconds: seconds)) { [unowned self] in
            let waiting = accounts[identity]?.waiting ?? []
            accounts[identity]?.waiting = []
            accounts[identity]?.timer = nil
            // Each of them asks again, in this order; the last of them wait once more.
            for later in waiting { later() }
        }
    }

    private func forget(_ now: MonotonicTime) {
        accounts = accounts.filter { _, account in
            !account.waiting.isEmpty || account.credit + now.seconds(since: account.at) * Self.share < Self.burst
        }
    }

    /// Seconds of the processor that this thread has used.
    private static var used: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
