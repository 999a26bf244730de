import CLinux
import Glibc

/// A hook's process: started without a shell, in a group of its own, with the state on its standard input and no other
/// open files.
struct HookProcess {
    /// Its process id and group id.
    let pid: Int32
    /// Readable after the end of the process (pidfd_open(2)); the caller's.
    let descriptor: Int32
    /// The read end of its standard output and error, non-blocking; the caller's.
    let output: Int32

    /// Reason why the process could not start.
    struct Failure: Error {
        var reason: String
    }

    /// Starts the program at `path`. `input`: the content of its standard input.
    init(_ path: String, _ arguments: [String], environment: [String], input: [UInt8]) throws(Failure) {
        let state = try HookProcess.sealed(input)
        defer { close(state) }
        var ends: [Int32] = [-1, -1]
        guard linux_pipe(&ends) == 0 else { throw Failure(reason: "cannot create a pipe: error \(errno)") }
        defer { close(ends[1]) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        var started = pid_t()
        let result = HookProcess.spawn(&started, path, arguments, environment, state, ends[1])
        guard result == 0 else {
            close(ends[0])
            let hint = result == ENOEXEC ? "; a script begins with a line such as #!/bin/sh" : ""
            throw Failure(reason: "cannot start: \(String(cString: strerror(result)))\(hint)")
        }
        descriptor = linux_pidfd_open(started)
        guard descriptor >= 0 else {
            let reason = "cannot watch the process: \(String(cString: strerror(errno)))"
            close(ends[0])
            kill(-started, SIGKILL)
            waitpid(started, nil, 0)
            throw Failure(reason: reason)
        }
        pid = started
        output = ends[0]
    }

    private static func spawn(
        _ started: inout pid_t, _ path: String, _ arguments: [String], _ environment: [String], _ input: Int32,
        _ output: Int32
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, output, 2)
        linux_close_from(&actions, 3)
        linux_spawn_begin_in(&actions, "/")
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        return posix_spawn(&started, path, &actions, &attributes, words, variables)
    }

    /// A file in memory that holds these bytes, sealed against changes; read from its start.
    private static func sealed(_ bytes: [UInt8]) throws(Failure) -> Int32 {
        let file = linux_sealable_file("nowplaying-state")
        guard file >= 0 else { throw Failure(reason: "no memory for the state: error \(errno)") }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            written += count
        }
        guard written == bytes.count, lseek(file, 0, SEEK_SET) == 0, linux_seal(file) == 0 else {
            close(file)
            throw Failure(reason: "no memory for the state")
        }
        return file
    }

    /// Sends a signal to the whole group.
    func signal(_ number: Int32) { kill(-pid, number) }

    /// Kills the rest of the group and returns the program's status (wait(2)). Call it only after `descriptor` has
    /// signalled the end: until then no other process gets the pid.
    func collect() -> Int32 {
        signal(SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
