import CCurl
import ForeignMedia
import Glibc

/// Tries what a confined process may not do: `nowplaying-decode PROFILE PARENT check` tells it instead of decoding.
enum SelfCheck {
    /// What was allowed, by name, in order.
    static func allowed() -> [String] {
        var status = stat()
        var thread = pthread_t()
        var spawned = pid_t()
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
        ]
        return tries.filter(\.1).map(\.0)
    }
}
