import CLinux
import Glibc

/// Environment of the process for libpulse.
package enum PulseEnvironment {
    /// Makes libpulse read the user's own client.conf together with two lines of ours: no shared memory (it causes a
    /// wakeup for every 64 KiB that play), and no server started by us. Also drops `PULSE_LATENCY_MSEC`, which would
    /// override the buffering. Call it at the start, before any thread runs: it changes the environment, at the first
    /// call only.
    ///
    /// The configuration is a file in memory named by `PULSE_CLIENTCONFIG`, closed on exec: a child that uses libpulse
    /// must start with the variable's original value.
    package static func prepare() { prepared }

    private static let prepared: Void = {
        unsetenv("PULSE_LATENCY_MSEC")
        let text = clientConfiguration(including: clientConfigurationFiles())
        let descriptor = linux_memory_file("client.conf")
        guard descriptor >= 0 else { return }
        let written = text.utf8.withContiguousStorageIfAvailable { write(descriptor, $0.baseAddress, $0.count) }
        guard written == text.utf8.count else {
            close(descriptor)
            return
        }
        setenv("PULSE_CLIENTCONFIG", "/proc/self/fd/\(descriptor)", 1)
    }()

    /// A configuration that includes these files, which libpulse reads anew for each connection and skips if missing. A
    /// mistake in a file ends the reading, so our lines stand before the first file and after each.
    static func clientConfiguration(including files: [String]) -> String {
        let ours = "enable-shm = no\nautospawn = no\n"
        let includes = files.filter { !$0.utf8.contains(UInt8(ascii: "\n")) }.map { ".include \($0)\n" }
        return ours + includes.map { $0 + ours }.joined()
    }

    /// The files that libpulse would read, in its order: the first existing client.conf among that of the environment,
    /// the user's two paths and the system's; then the parts in the folder of the same name with `.d` (libpulse 16.1:
    /// core-util.c, `pa_open_config_file`; conf-parser.c, `pa_config_parse`).
    static func clientConfigurationFiles() -> [String] {
        let main: String?
        if let named = environment("PULSE_CLIENTCONFIG") {
            main = named
        } else {
            var paths: [String] = []
            if let folder = environment("PULSE_CONFIG_PATH") {
                paths.append("\(folder)/client.conf")
            } else if let home = environment("HOME") {
                paths += ["\(home)/.pulse/client.conf", "\(home)/.config/pulse/client.conf"]
            }
            paths.append("/etc/pulse/client.conf")
            main = paths.first { access($0, R_OK) == 0 }
        }
        guard let main else { return [] }
        return [main] + parts(of: "\(main).d")
    }

    /// The `.conf` files of a folder, in order of their names.
    private static func parts(of folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".conf") { names.append("\(folder)/\(name)") }
        }
        return names.sorted()
    }

    /// True if the skew of every sink is stored, even of one that is not a device: for tests, whose sinks are not.
    static var remembersEveryClock: Bool { environment("NOWPLAYINGD_REMEMBER_SKEW") == "all" }

    /// A variable's value; nil: unset or empty.
    static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
