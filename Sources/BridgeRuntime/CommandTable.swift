package import ControlProtocol

/// The available commands: the answer of `commands.list`.
package struct CommandTable: Equatable, Sendable {
    private var enabled: Set<String> = []
    /// The available rates, the slowest first; only 1 if no other is supported.
    package private(set) var rates: [Double] = [1]

    /// An empty table, for the time before the daemon's first answer.
    package init() {}

    /// Reads the answer. A command that cannot be read is not available.
    package init(_ answer: JSONValue) {
        for entry in answer["commands"]?.arrayValue ?? [] {
            guard let name = entry["command"]?.stringValue else { continue }
            if entry["enabled"]?.boolValue == true { enabled.insert(name) }
            let supported = entry["supportedPlaybackRates"]?.arrayValue?.compactMap(\.doubleValue).filter { $0 > 0 }
            if name == "changePlaybackRate", let supported, !supported.isEmpty { rates = supported.sorted() }
        }
    }

    /// True if this command is available now.
    package func allows(_ command: String) -> Bool { enabled.contains(command) }
}
