import Glibc

/// Paths of sound servers' sockets.
enum ServerAddress {
    /// Paths at which a server for this user may listen, as libpulse would try them: those from the environment or the
    /// configuration files, else the usual paths. Without network addresses, which cannot be watched.
    static func socketPaths() -> [String] {
        let named = PulseEnvironment.environment("PULSE_SERVER") ?? configuredServer()
        if let named { return paths(inServerList: named) }
        var paths: [String] = []
        if let folder = PulseEnvironment.environment("PULSE_RUNTIME_PATH") { paths.append("\(folder)/native") }
        if let folder = PulseEnvironment.environment("XDG_RUNTIME_DIR") { paths.append("\(folder)/pulse/native") }
        paths.append("/run/user/\(getuid())/pulse/native")
        paths.append("/var/run/pulse/native")
        var seen = Set<String>()
        return paths.filter { seen.insert($0).inserted }
    }

    /// The paths in a list of servers: `{machine}unix:/path tcp:host …` (libpulse, server string format).
    static func paths(inServerList list: String) -> [String] {
        list.split(separator: " ").compactMap { entry in
            var address = entry
            if address.first == "{", let end = address.firstIndex(of: "}") {
                address = address[address.index(after: end)...]
            }
            if address.hasPrefix("unix:") { address = address.dropFirst(5) }
            return address.first == "/" ? String(address) : nil
        }
    }

    /// The last `default-server` in the files that libpulse reads.
    private static func configuredServer() -> String? {
        var server: String?
        for file in PulseEnvironment.clientConfigurationFiles() { readServer(file, into: &server, depth: 0) }
        return server?.isEmpty == true ? nil : server
    }

    /// Reads a file and its included files, as our own configuration includes the user's.
    private static func readServer(_ file: String, into server: inout String?, depth: Int) {
        guard depth < 4, let handle = fopen(file, "re") else { return }
        defer { fclose(handle) }
        var buffer = [CChar](repeating: 0, count: 4096)
        while fgets(&buffer, Int32(buffer.count), handle) != nil {
            let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            let line = String(decoding: bytes, as: UTF8.self)
            if line.hasPrefix(".include ") {
                let name = trimmed(line.dropFirst(9))
                let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
                readServer(name.hasPrefix("/") ? name : folder + name, into: &server, depth: depth + 1)
            } else if let value = value(of: "default-server", inLine: line) {
                server = value
            }
        }
    }

    /// The value of a setting in this line of a client.conf; nil: the line is not that setting.
    static func value(of name: String, inLine line: String) -> String? {
        let parts = line.prefix { $0 != "#" && $0 != ";" }.split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, trimmed(parts[0]) == name else { return nil }
        return trimmed(parts[1])
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
