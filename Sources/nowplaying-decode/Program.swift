import CLinux
import ChildDecoding
import Glibc
import NowPlaying

/// Resources of the system that a child may use.
enum Profile: String {
    /// Only the file from the daemon.
    case file
    /// Connections to the network, name resolution and certificate checks.
    case network
}

/// Ends the process without a message, because nothing reads it.
func leave(_ status: Int32) -> Never { _exit(status) }

/// Writes a text to `descriptor` and ends the process.
private func leave(_ text: String, on descriptor: Int32, _ status: Int32) -> Never {
    _ = text.withCString { write(descriptor, $0, strlen($0)) }
    leave(status)
}

/// Carries out the orders of the daemon that started this process.
func run(_ arguments: [String]) -> Never {
    let usage = "nowplayingd starts nowplaying-decode; it has no other use. See nowplaying-decode(8).\n"
    if arguments.count == 2 {
        if ["-h", "--help"].contains(arguments[1]) { leave(usage, on: 1, 0) }
        if ["-V", "--version"].contains(arguments[1]) { leave("nowplaying-decode \(Product.version)\n", on: 1, 0) }
    }
    guard arguments.count == 3 || arguments.count == 4 && arguments[3] == "check",
        let profile = Profile(rawValue: arguments[1]), let parent = pid_t(arguments[2]),
        linux_harden_process() == 0, getppid() == parent
    else { leave(usage, on: 2, 64) }
    Limits.set(profile)
    signal(SIGPIPE, SIG_IGN)
    let channel = DaemonChannel()
    do throws(WireFailure) {
        prepareLibraries(profile)
        let request = channel.awaitRequest()
        // Music that plays has the processors and the disks first.
        if case .loudness = channel.order { linux_lower_priority(0) }
        try Confinement.enter(profile, certificates: request.certificates)
        if arguments.count == 4 {
            throw WireFailure(.unavailable, "allowed: \(SelfCheck.allowed().joined(separator: ", "))")
        }
        switch channel.order {
        case .audio: try Session(channel, profile, request).serve()
        case .pictures(let task): try Pictures.send(task, channel, profile, request)
        case .loudness: try Loudness.send(channel, profile)
        }
    } catch {
        channel.send(.failed, error.bytes)
        channel.awaitEnd()
    }
}
