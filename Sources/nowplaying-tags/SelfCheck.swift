import CLinux
import Glibc

/// Tries the operations that the sandbox must deny: `nowplaying-tags PARENT check` reports them instead of reading.
enum SelfCheck {
    /// Allowed operations by name, in order.
    static func allowed() -> [String] {
        var status = stat()
        var thread = pthread_t()
        var spawned = pid_t()
        var ends: [Int32] = [-1, -1]
        let tries: [(String, Bool)] = [
            ("read a file", open("/etc/passwd", O_RDONLY) >= 0),
            ("write a file", open("/tmp/nowplaying-tags", O_WRONLY | O_CREAT) >= 0),
            ("look at a file", stat("/etc/passwd", &status) == 0),
            ("use the network", socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) >= 0),
            ("use local sockets", socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) >= 0),
            ("make a pair of sockets", socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0),
            ("start a program", posix_spawn(&spawned, "/bin/true", nil, nil, [nil], [nil]) == 0),
            ("start a thread", pthread_create(&thread, nil, { _ in nil }, nil) == 0),
            ("send signals", kill(getppid(), 0) == 0),
            ("let signals be sent", fcntl(3, F_SETOWN, getppid()) == 0),
            ("run memory", mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANON, -1, 0) != MAP_FAILED),
            ("share memory", mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0) != MAP_FAILED),
            ("map a file", mmap(nil, 4096, PROT_READ, MAP_PRIVATE, 3, 0) != MAP_FAILED),
            ("raise its limits", setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), [rlimit()]) == 0),
            ("raise its priority", setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10) == 0),
        ]
        return tries.filter(\.1).map(\.0)
    }
}
