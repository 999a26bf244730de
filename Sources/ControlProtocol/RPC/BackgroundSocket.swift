/// The daemon's second socket, for programs that follow it for as long as it runs by itself.
package enum BackgroundSocket {
    /// Path of this socket beside the control socket. It exists while the daemon runs: a client there neither starts the daemon
    /// nor keeps it from ending when it is idle.
    package static func path(beside socket: String) -> String { socket + ".background" }
}
