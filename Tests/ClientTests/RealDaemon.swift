import Glibc
import TestSupport

/// A run of the real nowplayingd with the null output. Ends with its last reference, if it has not ended by itself.
final class RealDaemon {
    /// The path of its socket.
    let socket: String
    private let child: ChildProgram

    /// The program beside the tests.
    static let program = Tool.program.replacing(#/nowplayingctl$/#, with: "nowplayingd")

    /// Starts a daemon whose files lie in `folder` and waits until it is ready. `user`: runs it as this user.
    init(_ folder: TemporaryFolder, user: UInt32? = nil) {
        socket = folder.path("control.sock")
        var words = [
            RealDaemon.program, "--socket", socket, "--state-directory", folder.path("state"), "--output", "null",
        ]
        if let user { words = ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"] + words }
        child = ChildProgram(
            words, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder.path], outputPath: "/dev/null")
        var log: [UInt8] = []
        while !String(decoding: log, as: UTF8.self).contains("ready") {
            precondition(ChildProgram.read(child.complaint, into: &log), "nowplayingd did not start: \(log)")
        }
    }

    deinit { child.end(by: SIGTERM) }

    /// Kills it and waits for its end.
    func kill() { child.end(by: SIGKILL) }

    /// Waits for its end and returns its exit status.
    func wait() -> Int32 { child.wait() }
}
