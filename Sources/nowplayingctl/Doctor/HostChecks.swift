import CLinux
import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient

/// Checks of the daemon's host: the session, the disks, the kernel.
enum HostChecks {
    /// Checks that the daemon outlives the user's session.
    static func session(_ socket: String) -> Finding {
        guard let folder = SocketLocation.variable("XDG_RUNTIME_DIR"), socket.hasPrefix(folder + "/") else {
            return Finding(
                "session", .ok,
                ServiceControl(socket: socket) == .system
                    ? "this is the system's daemon" : "its socket is \(TerminalText.safe(socket))")
        }
        let name = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(getuid())"
        if access("/var/lib/systemd/linger/" + name, F_OK) == 0 {
            return Finding("session", .ok, "\(name)'s daemon; it keeps running after \(name) logs out")
        }
        return Finding(
            "session", .note, "\(name)'s daemon; it ends when \(name) logs out",
            meaning: "on a headless box it does not start",
            action: "sudo loginctl enable-linger \(name)")
    }

    /// Folders that others may play from.
    static func roots(_ diagnosis: JSONValue?) -> [Finding] {
        let roots = diagnosis?["mediaRoots"]?.arrayValue ?? []
        guard !roots.isEmpty else {
            return [
                Finding(
                    "media", .note, "no media-roots are configured",
                    meaning:
                        "the daemon's own user can play every file that it can read; others cannot name files, and the "
                        + "page shows all users an empty library",
                    action: "set media-roots in nowplayingd.conf, then nowplayingctl reload")
            ]
        }
        return roots.map { root($0["state"]?.stringValue, TerminalText.safe($0["path"]?.stringValue ?? "?")) }
    }

    /// A folder in this state of `diagnostics.get`.
    private static func root(_ state: String?, _ path: String) -> Finding {
        let word = Finding.word(path)
        return switch state {
        case "ready": Finding("media", .ok, path)
        case "empty":
            Finding(
                "media", .warning, "\(path) is empty", meaning: "its disk is not mounted",
                action: "findmnt \(word); mount \(word)")
        case "missing":
            Finding(
                "media", .warning, "\(path) does not exist",
                meaning: "its disk is not mounted, or it was renamed",
                action: "mount it, or set media-roots in nowplayingd.conf")
        case "denied":
            Finding(
                "media", .fault, "the daemon cannot read \(path)", meaning: "nothing in it plays",
                action: "allow it: setfacl -m u:nowplayingd:rx \(word)")
        default:
            Finding(
                "media", .fault, "\(path) does not answer", meaning: "its disk or server hangs",
                action: "df \(word); mount it again")
        }
    }

    /// Checks that the queue and the position survive a restart.
    static func saved(_ state: JSONValue?) -> [Finding] {
        guard let state, let directory = state["directory"]?.stringValue else { return [] }
        let path = TerminalText.safe(directory)
        let reports = state["reports"]?.arrayValue ?? []
        let faults = reports.map { report in
            Finding(
                "state", .warning, TerminalText.safe(report.stringValue ?? "?"),
                meaning: "the daemon could not read its saved state at the start",
                action: "inspect or remove it: ls -l \(Finding.word(path))")
        }
        guard let error = state["error"]?.stringValue else {
            guard faults.isEmpty else { return faults }
            guard isInMemory(directory) else { return [Finding("state", .ok, "saved in \(path)")] }
            return [
                Finding(
                    "state", .warning, "kept in memory, in \(path)",
                    meaning: "a restart of the machine loses the queue and the position",
                    action: "name a folder on a writable disk: state-directory in nowplayingd.conf")
            ]
        }
        return faults + [
            Finding(
                "state", .fault, "cannot save the state: \(TerminalText.safe(error))",
                meaning: "playback continues; a restart of the machine loses the changes since",
                action: "df \(Finding.word(path)); findmnt -T \(Finding.word(path)) shows whether it is read-only")
        ]
    }

    private static func isInMemory(_ directory: String) -> Bool {
        let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return false }
        defer { close(folder) }
        return linux_file_system(folder) == tmpfs
    }

    /// TMPFS_MAGIC of statfs(2).
    private static let tmpfs: UInt32 = 0x0102_1994

    /// Reports a daemon that opens nothing because it crashed twice soon after its start.
    static func rest(_ reason: String?) -> Finding? {
        guard let reason else { return nil }
        return Finding(
            "start", .warning, TerminalText.safe(reason),
            meaning: "the current item or its picture may crash the daemon",
            action: "nowplayingctl next, or nowplayingctl play to try it again; coredumpctl info nowplayingd")
    }
}
