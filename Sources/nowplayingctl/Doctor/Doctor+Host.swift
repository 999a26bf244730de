import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient

/// Checks of the daemon's host: the session, the disks, the kernel, the clock.
extension Doctor {
    /// Checks that the daemon outlives the user's session.
    mutating func session(_ socket: String) {
        guard let folder = SocketLocation.variable("XDG_RUNTIME_DIR"), socket.hasPrefix(folder + "/") else {
            let isSystem = socket.hasPrefix("/run/nowplayingd/")
            return add(
                Finding(
                    "session", .ok,
                    isSystem ? "this is the system's daemon" : "its socket is \(TerminalText.safe(socket))"))
        }
        let name = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(getuid())"
        if access("/var/lib/systemd/linger/" + name, F_OK) == 0 {
            return add(Finding("session", .ok, "\(name)'s daemon; it keeps running after \(name) logs out"))
        }
        add(
            Finding(
                "session", .note, "\(name)'s daemon; it ends when \(name) logs out",
                meaning: "on a headless box it does not start",
                action: "sudo loginctl enable-linger \(name)"))
    }

    /// Folders that others may play from.
    mutating func roots(_ diagnosis: JSONValue?) {
        let roots = diagnosis?["mediaRoots"]?.arrayValue ?? []
        guard !roots.isEmpty else {
            return add(
                Finding(
                    "media", .note, "no media-roots are configured",
                    meaning: "the daemon's own user can play every file that it can read; others cannot name files",
                    action: "set media-roots in nowplayingd.conf, then nowplayingctl reload"))
        }
        for root in roots {
            let path = TerminalText.safe(root["path"]?.stringValue ?? "?")
            let word = Finding.word(path)
            switch root["state"]?.stringValue {
            case "ready": add(Finding("media", .ok, path))
            case "empty":
                add(
                    Finding(
                        "media", .warning, "\(path) is empty", meaning: "its disk is not mounted",
                        action: "findmnt \(word); mount \(word)"))
            case "missing":
                add(
                    Finding(
                        "media", .warning, "\(path) does not exist",
                        meaning: "its disk is not mounted, or it was renamed",
                        action: "mount it, or set media-roots in nowplayingd.conf"))
            case "denied":
                add(
                    Finding(
                        "media", .fault, "the daemon cannot read \(path)", meaning: "nothing in it plays",
                        action: "allow it: setfacl -m u:nowplayingd:rx \(word)"))
            default:
                add(
                    Finding(
                        "media", .fault, "\(path) does not answer", meaning: "its disk or server hangs",
                        action: "df \(word); mount it again"))
            }
        }
    }

    /// Checks that the queue and the position survive a restart.
    mutating func saved(_ state: JSONValue?) {
        guard let state, let directory = state["directory"]?.stringValue else { return }
        let path = TerminalText.safe(directory)
        let reports = state["reports"]?.arrayValue ?? []
        for report in reports {
            add(
                Finding(
                    "state", .warning, TerminalText.safe(report.stringValue ?? "?"),
                    meaning: "the daemon could not read its saved state at the start",
                    action: "inspect or remove it: ls -l \(Finding.word(path))"))
        }
        guard let error = state["error"]?.stringValue else {
            if reports.isEmpty { add(Finding("state", .ok, "saved in \(path)")) }
            return
        }
        add(
            Finding(
                "state", .fault, "cannot save the state: \(TerminalText.safe(error))",
                meaning: "playback continues; a restart of the machine loses the changes since",
                action: "df \(Finding.word(path)); findmnt -T \(Finding.word(path)) shows whether it is read-only"))
    }

    /// Reports a daemon that opens nothing because it crashed twice soon after its start.
    mutating func rest(_ reason: String?) {
        guard let reason else { return }
        add(
            Finding(
                "start", .warning, TerminalText.safe(reason),
                meaning: "the current item or its picture may crash the daemon",
                action: "nowplayingctl next, or nowplayingctl play to try it again; coredumpctl info nowplayingd"))
    }

    /// The child that reads tags of items that were not played.
    mutating func titles(_ diagnosis: JSONValue?) {
        guard let diagnosis, let program = diagnosis["tagsProgram"] else { return }
        guard let path = program.stringValue else {
            return add(
                Finding(
                    "titles", .warning, "nowplaying-tags is not installed",
                    meaning: "titles and times of items that were not played are missing", action: "make install"))
        }
        guard diagnosis["seccomp"]?.boolValue != false else { return }
        add(Finding("titles", .ok, "\(TerminalText.safe(path)) reads tags in a sandbox"))
    }

    /// The child for foreign formats.
    mutating func confinement(_ diagnosis: JSONValue?) {
        guard let diagnosis else { return }
        guard let path = diagnosis["decodeProgram"]?.stringValue else {
            return add(
                Finding(
                    "confinement", .warning, "nowplaying-decode is not installed",
                    meaning: "no radio, no addresses, no AAC, ALAC, WMA and the like",
                    action: "install FFmpeg's, libcurl's and libseccomp's development packages, then make install"))
        }
        if diagnosis["seccomp"]?.boolValue == false {
            return add(
                Finding(
                    "confinement", .fault, "this kernel has no seccomp",
                    meaning: "nowplaying-decode opens nothing without its sandbox",
                    action: "boot a kernel with CONFIG_SECCOMP_FILTER"))
        }
        if diagnosis["landlock"]?.boolValue == false {
            return add(
                Finding(
                    "confinement", .note, "this kernel has no Landlock",
                    meaning: "nowplaying-decode cannot start programs, but can read the files of the daemon's user",
                    action: "boot with lsm=landlock,… and CONFIG_SECURITY_LANDLOCK"))
        }
        add(Finding("confinement", .ok, "\(TerminalText.safe(path)) decodes other formats in a sandbox"))
    }

    /// Error of the clients' position in seconds that is worth a warning: ten times the drift that is an event.
    private static let tolerableError = 0.02

    /// The host's clock, the evenness of the device, how far its clock is off, and the error of the position that clients
    /// compute. `report`: of `diagnostics.get`.
    mutating func clock(_ state: StateView, _ report: JSONValue?) {
        let error = report?["error"]?.doubleValue
        guard let anchor = state.anchor else { return }
        let skew = "the device runs \(ClockText.number((anchor.skew * 1e7).rounded() / 10, places: 1)) ppm fast"
        if !anchor.wallSynced {
            return add(
                Finding(
                    "clock", .warning, "the wall clock was never set",
                    meaning: "the daemon cannot detect late commands; \(skew)",
                    action: "timedatectl set-ntp true"))
        }
        if report?["unsteady"]?.boolValue == true { return add(Doctor.unsteady(report)) }
        guard abs(anchor.skew) < 0.001 else {
            return add(
                Finding(
                    "clock", .warning, skew,
                    meaning: "a sound card is within 200 ppm; the server's reports are wrong",
                    action: "is it a network or virtual device? nowplayingctl outputs"))
        }
        let milliseconds = error.map { "\(ClockText.number((abs($0) * 1e4).rounded() / 10, places: 1)) ms" }
        if let error, let milliseconds, abs(error) > Doctor.tolerableError {
            return add(
                Finding(
                    "clock", .warning, "the position that clients show was off by \(milliseconds)",
                    meaning: "the device's reports jump; they were off at the last refill",
                    action: "is it a network or virtual device? nowplayingctl outputs"))
        }
        let measured = milliseconds.map { "; the position that clients show was off by \($0) at the last refill" } ?? ""
        add(
            Finding(
                "clock", .ok, "set; " + (anchor.skew == 0 ? "the device's skew is not measured yet" : skew) + measured))
    }

    /// A device that loses or inserts blocks.
    private static func unsteady(_ report: JSONValue?) -> Finding {
        let jumps = report?["jumps"]?.integerValue ?? 0
        let loss = report?["loss"]?.doubleValue ?? 0
        let milliseconds = ClockText.number((abs(loss) * 1e4).rounded() / 10, places: 1)
        let average = loss == 0 ? "" : ", \(milliseconds) ms a second on average"
        return Finding(
            "clock", .warning, "the sound server loses blocks: \(jumps) readings did not fit\(average)",
            meaning: "the position that clients show may be off by 10 ms, and the sound may click",
            action: "give the sound server real-time scheduling: systemctl status rtkit-daemon; try another USB port")
    }

    /// Counts the daemon's wakeups in one second without requests.
    mutating func wakeups(_ process: Int64, _ state: StateView) {
        let seconds = 1
        guard let before = Doctor.switches(process) else {
            return add(
                Finding(
                    "wakeups", .note, "cannot inspect process \(process)",
                    meaning: "it runs in another container, or /proc is hidden"))
        }
        let expected = state.state == .playing ? 10 : 1
        var (last, count) = (before, Int.max)
        // A recent command causes wakeups of its own: the quietest of three seconds counts.
        for _ in 0..<3 where count > expected {
            poll(nil, 0, Int32(seconds * 1000))
            guard let now = Doctor.switches(process) else { return }
            count = min(count, max(0, now - last) / seconds)
            last = now
        }
        if count <= expected { return add(Finding("wakeups", .ok, "\(count) in a second")) }
        add(
            Finding(
                "wakeups", .warning, "\(count) per second while \(state.stateName)",
                meaning: "clients poll instead of subscribing, or the device has a fault",
                action: "ss -xp | grep nowplayingd; nowplayingctl follow shows the events"))
    }

    /// Voluntary context switches of all threads so far; nil where the process is not seen.
    private static func switches(_ process: Int64) -> Int? {
        guard let folder = opendir("/proc/\(process)/task") else { return nil }
        defer { closedir(folder) }
        var total = 0
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let file = fopen("/proc/\(process)/task/\(name)/status", "re") else { continue }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, Int32(line.count), file) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                guard text.hasPrefix("voluntary_ctxt_switches:") else { continue }
                total += Int(text.split { $0 == "\t" || $0 == " " || $0 == "\n" }.last ?? "") ?? 0
            }
        }
        return total
    }
}
