import CCurl
import CLinux
import ChildDecoding
import Glibc

/// Tries the operations that the sandbox must deny: `nowplaying-decode PROFILE PARENT check` reports them instead of decoding.
enum SelfCheck {
    /// Allowed operations by name, in order.
    static func allowed() -> [String] {
        var status = stat()
        var thread = pthread_t()
        var spawned = pid_t()
        var limit = rlimit()
        let tries: [(String, Bool)] = [
            ("read a file", open("/etc/passwd", O_RDONLY) >= 0),
            ("write a file", open("/tmp/nowplaying-decode", O_WRONLY | O_CREAT) >= 0),
            ("look at a file", stat("/etc/passwd", &status) == 0),
            ("use the network", socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) >= 0),
            ("use the network bare", socket(AF_INET, Int32(SOCK_RAW.rawValue), 1) >= 0),
            ("use local sockets", socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) >= 0),
            ("start a program", posix_spawn(&spawned, "/bin/true", nil, nil, [nil], [nil]) == 0),
            ("start a thread", pthread_create(&thread, nil, { _ in nil }, nil) == 0),
            ("send signals", kill(getppid(), 0) == 0),
            ("let signals be sent", fcntl(3, F_SETOWN, getppid()) == 0),
            ("run memory", mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANON, -1, 0) != MAP_FAILED),
            ("map a file for writing", mmap(nil, 4096, PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0) != MAP_FAILED),
            ("raise its limits", setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), [rlimit()]) == 0),
            ("set limits by a high pointer", setsLimitByHighPointer()),
            (
                "read the limits of its parent",
                linux_prlimit(getppid(), Int32(RLIMIT_NOFILE.rawValue), nil, &limit) == 0
            ),
            ("make a pair of datagrams", makesPair(SOCK_DGRAM)),
            ("make a pair of packets", makesPair(SOCK_SEQPACKET)),
        ]
        return tries.filter(\.1).map(\.0)
    }

    /// True if a pointer whose lower 32 bits are 0 can set a limit: a filter that compares only those bits takes it for
    /// null.
    private static func setsLimitByHighPointer() -> Bool {
        for number in 1...8 as ClosedRange<UInt> {
            let wanted = UnsafeMutableRawPointer(bitPattern: number << 32)
            let page = mmap(wanted, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
            // Without MAP_FIXED the kernel honours the address hint if the range is free.
            guard let page, page != MAP_FAILED, page == wanted else { continue }
            let limit = page.bindMemory(to: rlimit.self, capacity: 1)
            limit.pointee = rlimit(rlim_cur: 0, rlim_max: 0)
            return linux_prlimit(0, Int32(RLIMIT_CORE.rawValue), limit, nil) == 0
        }
        return false
    }

    /// True if the process can create a pair of local sockets of this type.
    private static func makesPair(_ type: __socket_type) -> Bool {
        var ends: [Int32] = [-1, -1]
        return socketpair(AF_UNIX, Int32(type.rawValue), 0, &ends) == 0
    }
}
