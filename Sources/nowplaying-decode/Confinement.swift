import CCurl
import CFFmpeg
import CLinux
import CSeccomp
import ForeignMedia
import Glibc

/// Does what libraries do at their first use, while everything is allowed still.
func prepareLibraries(_ profile: Profile) {
    av_log_set_level(AV_LOG_QUIET)
    if profile == .network { curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }
}

/// Gives up what the profile does not need, for good: an allow-list of system calls (seccomp), and below that of files
/// (Landlock), where the kernel has it.
enum Confinement {
    /// Memory, time, waiting, and reading and writing what is open.
    private static let everywhere = [
        "read", "readv", "pread64", "write", "writev", "sendto", "sendmsg", "recvfrom", "recvmsg", "poll", "ppoll",
        "select", "pselect6", "close", "lseek", "fstat", "dup", "munmap", "mremap", "madvise", "brk", "futex",
        "futex_waitv", "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time",
        "restart_syscall", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "sched_yield",
        "sched_getaffinity", "getrandom", "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getcpu",
        "uname", "sysinfo", "set_robust_list", "rseq", "membarrier", "exit", "exit_group",
    ]
    /// Connecting, and what finding names and trusting certificates looks at.
    private static let network = [
        "connect", "sendmmsg", "recvmmsg", "getsockopt", "setsockopt", "getsockname", "getpeername", "shutdown",
        "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd2", "pipe2", "getdents64", "newfstatat",
        "fstatat64", "stat", "lstat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getcwd",
        "statfs", "fstatfs",
    ]
    /// Files that finding names and trusting certificates need, with all below them.
    private static let files = [
        "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/nsswitch.conf", "/etc/services",
        "/etc/protocols", "/etc/ssl", "/etc/ca-certificates", "/etc/ld.so.cache", "/etc/localtime", "/etc/gnutls",
        "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/usr/lib", "/lib", "/lib64",
        "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf",
    ]

    /// Enters the profile; every thread to come is in it, too. Throws `WireFailure` if the kernel does not let us: then
    /// nothing may be read.
    static func enter(_ profile: Profile, certificates: String) throws(WireFailure) {
        if profile == .network { confineFiles(certificates) }
        guard let filter = seccomp_init(seccomp_refuse(UInt16(EPERM))) else { throw unavailable }
        defer { seccomp_release(filter) }
        for name in everywhere { try allow(name, in: filter) }
        // A page is either written or run: only what the loader maps from a file may be run.
        try allow("mprotect", argument: 2, mask: UInt64(PROT_EXEC), equals: 0, in: filter)
        if profile == .file {
            try allow("mmap", argument: 2, mask: UInt64(PROT_EXEC), equals: 0, in: filter)
        } else {
            // Finding names loads libraries as the system's configuration has it.
            try allow("mmap", in: filter)
        }
        try allow("fcntl", in: filter)
        try allow("ioctl", argument: 1, mask: .max, equals: UInt64(FIONREAD), in: filter)
        try allow("ioctl", argument: 1, mask: .max, equals: UInt64(FIONBIO), in: filter)
        try allow("prlimit64", argument: 2, mask: .max, equals: 0, in: filter)
        // The library asks for clone3 first and takes clone, whose flags can be judged, when there is none.
        try refuse("clone3", with: ENOSYS, in: filter)
        if profile == .network {
            for name in network { try allow(name, in: filter) }
            for family in [AF_INET, AF_INET6] {
                try allow("socket", argument: 0, mask: .max, equals: UInt64(family), in: filter)
            }
            let writing = UInt64(O_ACCMODE | O_CREAT | O_TRUNC)
            try allow("openat", argument: 2, mask: writing, equals: UInt64(O_RDONLY), in: filter)
            try allow("open", argument: 1, mask: writing, equals: UInt64(O_RDONLY), in: filter)
            let thread = UInt64(confined_thread_flags)
            try allow("clone", argument: 0, mask: thread, equals: thread, in: filter)
        }
        guard seccomp_load(filter) == 0 else { throw unavailable }
    }

    private static var unavailable: WireFailure {
        WireFailure(
            .unavailable,
            "this kernel has no seccomp, and without it nothing of this kind is opened (CONFIG_SECCOMP_FILTER)")
    }

    private static func allow(_ name: String, in filter: scmp_filter_ctx) throws(WireFailure) {
        try add(seccomp_allow, name, [], filter)
    }

    private static func allow(
        _ name: String, argument: UInt32, mask: UInt64, equals value: UInt64, in filter: scmp_filter_ctx
    ) throws(WireFailure) {
        let comparison = scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: mask, datum_b: value)
        try add(seccomp_allow, name, [comparison], filter)
    }

    private static func refuse(_ name: String, with error: Int32, in filter: scmp_filter_ctx) throws(WireFailure) {
        try add(seccomp_refuse(UInt16(error)), name, [], filter)
    }

    private static func add(
        _ action: UInt32, _ name: String, _ comparisons: [scmp_arg_cmp], _ filter: scmp_filter_ctx
    ) throws(WireFailure) {
        let number = seccomp_syscall_resolve_name(name)
        // Not every architecture has all of them.
        guard number >= 0 else { return }
        guard seccomp_rule_add_array(filter, action, number, UInt32(comparisons.count), comparisons) == 0 else {
            throw unavailable
        }
    }

    private static func confineFiles(_ certificates: String) {
        let paths = files + (certificates.isEmpty ? [] : [certificates])
        let texts = paths.map { strdup($0) }
        defer { for text in texts { free(text) } }
        let constants = texts.map { UnsafePointer($0) }
        _ = linux_landlock_read_only(constants, Int32(constants.count))
    }
}
