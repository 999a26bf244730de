/// The daemon's second socket, for programs that follow the daemon without keeping it alive.
package enum BackgroundSocket {
    /// Path of this socket beside the control socket. The socket exists while the daemon runs. A client there neither starts
    /// the daemon nor prevents its end when it is idle.
    package static func path(beside socket: String) -> String { socket + ".background" }
}
