import Glibc
import Synchronization

/// Limit of the process's open files.
package enum DescriptorLimit {
    /// Raises the soft limit to `wanted`, or to the hard limit if that is lower. Returns the new limit.
    package static func raise(to wanted: UInt) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        if limit.rlim_cur < wanted, limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }
}

/// A number of open files of one kind. Any thread.
package final class DescriptorTally: Sendable {
    private let open = Atomic<Int>(0)
    private let whole: DescriptorTally?

    /// No files. `whole`: counts these files, too.
    package init(in whole: DescriptorTally? = nil) { self.whole = whole }

    /// Open files.
    package var count: Int { open.load(ordering: .relaxed) }

    fileprivate func add(_ change: Int) {
        open.wrappingAdd(change, ordering: .relaxed)
        whole?.add(change)
    }
}

/// An open file that is closed with its last owner.
package final class OwnedDescriptor: Sendable {
    /// The descriptor; valid as long as this object lives.
    package let number: Int32
    private let tally: DescriptorTally?

    /// Takes ownership of the descriptor. `tally` counts it while it is open.
    package init(_ number: Int32, in tally: DescriptorTally? = nil) {
        self.number = number
        self.tally = tally
        tally?.add(1)
    }

    deinit {
        close(number)
        tally?.add(-1)
    }
}
