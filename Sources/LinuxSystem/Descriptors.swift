import Glibc

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

/// An open file that is closed with its last owner.
package final class OwnedDescriptor: Sendable {
    /// The descriptor; valid as long as this object lives.
    package let number: Int32

    /// Takes ownership of the descriptor.
    package init(_ number: Int32) { self.number = number }

    deinit { close(number) }
}
