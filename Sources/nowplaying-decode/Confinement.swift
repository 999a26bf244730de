import CCurl
import CFFmpeg
import CLinux
import CSeccomp
import ChildDecoding
import Glibc

/// Runs the first use of the libraries before the confinement forbids the system calls of that use.
func prepareLibraries(_ profile: Profile) {
    av_log_set_level(AV_LOG_QUIET)
    if profile == .file { _ = FileInput.handedOverSize }
    if profile == .network { curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }
}

/// Permanently drops the rights that the profile does not need: an allow-list of system calls (seccomp), and an
/// allow-list of files (Landlock) on kernels that have it.
enum Confinement {
    /// Memory, time, waiting, and reading and writing open descriptors.
    private static let everywhere = [
        "read", "readv", "pread64", "write", "writev", "sendto", "sendmsg", "recvfrom", "recvmsg", "poll", "ppoll",
        "select", "pselect6", "close", "lseek", "fstat", "dup", "munmap", "mremap", "madvise", "brk", "futex",
        "futex_waitv", "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time",
        "restart_syscall", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "sched_yield",
        "sched_getaffinity", "getrandom", "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getcpu",
        "uname", "sysinfo", "set_robust_list", "rseq", "membarrier", "exit", "exit_group",
    ]
    /// Connections, and the calls for name resolution and certificate checks.
    private static let network = [
        "connect", "sendmmsg", "recvmmsg", "getsockopt", "setsockopt", "getsockname", "getpeername", "shutdown",
        "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd2", "pipe2", "getdents64", "newfstatat",
        "fstatat64", "stat", "lstat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getcwd",
        "statfs", "fstatfs",
    ]
    /// Files for name resolution and certificate checks, with all files below them.
    private static let files = [
        "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/nsswitch.conf", "/etc/services",
        "/etc/protocols", "/etc/ssl", "/etc/ca-certificates", "/etc/ld.so.cache", "/etc/localtime", "/etc/gnutls",
        "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/usr/lib", "/lib", "/lib64",
        "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf",
    ]

    /// Enters the profile, which also applies to all later threads. Throws `WireFailure` if the kernel refuses: then
    /// the caller must not read anything.
    static func enter(_ profile: Profile, certificates: String) throws(WireFailure) {
        if profile == .network { try confineFiles(certificates) }
        guard let filter = seccomp_init(seccomp_refuse(UInt16(EPERM))) else { throw unavailable }
        defer { seccomp_release(filter) }
        // Apply the filter to the threads that already run, too.
        guard seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 else { throw unavailable }
        for name in everywhere { try allow(name, in: filter) }
        try allowMapping(profile, in: filter)
        // The other commands name a process that is to get signals, which may be the daemon.
        for command in [F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC] {
            try allow("fcntl", [.equal(1, UInt64(command))], in: filter)
        }
        try allow("ioctl", [.equal(1, UInt64(FIONREAD))], in: filter)
        try allow("ioctl", [.equal(1, UInt64(FIONBIO))], in: filter)
        // The process may read its own limits: 0 is this process, and the pointer to a new limit must be null in all 64
        // bits.
        try allow("prlimit64", [.equal(0, 0), .null(2)], in: filter)
        // The library tries clone3 first; without it, it uses clone, whose flags the filter can check.
        try refuse("clone3", with: ENOSYS, in: filter)
        if profile == .network { try allowNetwork(in: filter) }
        guard seccomp_load(filter) == 0 else { throw unavailable }
    }

    /// Memory is either writable or executable. No file is mapped for writing: the file from the daemon may be open for
    /// that.
    private static func allowMapping(_ profile: Profile, in filter: scmp_filter_ctx) throws(WireFailure) {
        let own = Condition(argument: 3, mask: UInt64(MAP_TYPE), value: UInt64(MAP_PRIVATE))
        let isNotRun = Condition(argument: 2, mask: UInt64(PROT_EXEC), value: 0)
        try allow("mprotect", [isNotRun], in: filter)
        try allow("mmap", [isNotRun, own], in: filter)
        guard profile == .network else { return }
        // Name resolution loads the libraries that the system's configuration names.
        let isNotWritten = Condition(argument: 2, mask: UInt64(PROT_WRITE), value: 0)
        let isFile = Condition(argument: 3, mask: UInt64(MAP_TYPE | MAP_ANONYMOUS), value: UInt64(MAP_PRIVATE))
        try allow("mmap", [isNotWritten, isFile], in: filter)
    }

    private static func allowNetwork(in filter: scmp_filter_ctx) throws(WireFailure) {
        for name in network { try allow(name, in: filter) }
        for family in [AF_INET, AF_INET6] {
            for type in [SOCK_STREAM, SOCK_DGRAM] {
                let isType = Condition(argument: 1, mask: 0xF, value: UInt64(type.rawValue))
                try allow("socket", [.equal(0, UInt64(family)), isType], in: filter)
            }
        }
        // libcurl wakes itself through a pair of stream sockets when it has resolved a name. A datagram pair could send
        // to any named socket.
        let isStream = Condition(argument: 1, mask: 0xF, value: UInt64(SOCK_STREAM.rawValue))
        try allow("socketpair", [.equal(0, UInt64(AF_UNIX)), isStream], in: filter)
        let isReading = UInt64(O_ACCMODE | O_CREAT | O_TRUNC)
        try allow(
            "openat", [Condition(argument: 2, mask: isReading, value: UInt64(O_RDONLY))], in: filter)
        try allow("open", [Condition(argument: 1, mask: isReading, value: UInt64(O_RDONLY))], in: filter)
        let thread = UInt64(confined_thread_flags)
        try allow("clone", [Condition(argument: 0, mask: thread, value: thread)], in: filter)
    }

    /// Condition for an argument of a system call.
    private struct Condition {
        /// Number of the argument, from 0.
        var argument: UInt32
        /// Bits to compare.
        var mask: UInt64
        var value: UInt64

        /// Condition that an `int` argument has this value: the kernel reads 32 bits of it.
        static func equal(_ argument: UInt32, _ value: UInt64) -> Condition {
            Condition(argument: argument, mask: 0xFFFF_FFFF, value: value)
        }

        /// Condition that a pointer argument is null, in all its bits.
        static func null(_ argument: UInt32) -> Condition { Condition(argument: argument, mask: .max, value: 0) }
    }

    private static var unavailable: WireFailure {
        WireFailure(
            .unavailable,
            "this kernel has no seccomp (CONFIG_SECCOMP_FILTER), so the sandboxed decoder opens nothing")
    }

    private static func allow(
        _ name: String, _ conditions: [Condition] = [], in filter: scmp_filter_ctx
    ) throws(WireFailure) {
        let comparisons = conditions.map {
            scmp_arg_cmp(arg: $0.argument, op: SCMP_CMP_MASKED_EQ, datum_a: $0.mask, datum_b: $0.value)
        }
        try add(seccomp_allow, name, comparisons, filter)
    }

    private static func refuse(_ name: String, with error: Int32, in filter: scmp_filter_ctx) throws(WireFailure) {
        try add(seccomp_refuse(UInt16(error)), name, [], filter)
    }

    private static func add(
        _ action: UInt32, _ name: String, _ comparisons: [scmp_arg_cmp], _ filter: scmp_filter_ctx
    ) throws(WireFailure) {
        let number = seccomp_syscall_resolve_name(name)
        // Not every architecture has all system calls.
        guard number >= 0 else { return }
        guard seccomp_rule_add_array(filter, action, number, UInt32(comparisons.count), comparisons) == 0 else {
            throw unavailable
        }
    }

    /// Limits the files with Landlock. Without Landlock in the kernel, only the rights of the daemon's user limit them.
    private static func confineFiles(_ certificates: String) throws(WireFailure) {
        let paths = files + (certificates.isEmpty ? [] : [certificates])
        let texts = paths.map { strdup($0) }
        defer { for text in texts { free(text) } }
        let constants = texts.map { UnsafePointer($0) }
        guard linux_landlock_read_only(constants, Int32(constants.count)) >= 0 else {
            throw WireFailure(.unavailable, "the kernel refuses the file sandbox")
        }
    }
}
