package import Glibc

/// Calls `body` with the attributes of a process that a test starts: no signal is blocked, and none that a shell may ignore is
/// ignored. The threads of a test runner block most signals, and a runner in the background of a shell ignores SIGINT and
/// SIGQUIT. A child would inherit both.
package func withSpawnAttributes<Result>(_ body: (UnsafePointer<posix_spawnattr_t>) -> Result) -> Result {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGINT, SIGQUIT, SIGHUP] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    return body(&attributes)
}
