import BridgeRuntime
import Glibc
import NowPlaying
import NowPlayingClient

/// The section `[hooks]`.
struct HookSettings: BridgeSettings {
    /// A program and its fixed arguments, for one event.
    struct Command: Equatable, Sendable {
        var event: String
        var path: String
        var arguments: [String]
    }

    static let section = "hooks"

    /// Folders whose programs run at key events; nil: the default folders.
    var directories: [String]?
    /// The key events at which the programs of the folders run; nil: all.
    var events: Set<String>?
    /// Programs for single events.
    var commands: [Command] = []
    /// Seconds that a hook may run.
    var timeout = 10.0
    /// Seconds without sound before `active-ended`.
    var quietTime = 10.0

    var contradiction: String? { nil }

    /// Events of the hooks besides the daemon's key events.
    static let ownEvents = ["active-began", "active-ended", "daemon-lost"]

    /// All events at which hooks run.
    static let allEvents = Cause.allCases.map(\.rawValue) + ownEvents

    static let all: [BridgeSetting<HookSettings>] =
        [
            BridgeSetting("directory", takes: "absolute paths, one a line", clear: { $0.directories = nil }) {
                $0.directories = ($0.directories ?? []) + [$1]
                return $1.hasPrefix("/")
            },
            BridgeSetting("events", takes: "names of events, separated by commas") { settings, text in
                let names = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
                    String(part.drop { $0 == " " }.prefix { $0 != " " })
                }
                settings.events = Set(names)
                return names.allSatisfy(allEvents.contains)
            },
            BridgeSetting("timeout", takes: "seconds from 0.1 to 3600") {
                $0.timeout = ClockText.decimal($1) ?? 0
                return (0.1...3600).contains($0.timeout)
            },
            BridgeSetting("quiet-time", takes: "seconds from 0 to 86400") {
                $0.quietTime = ClockText.decimal($1) ?? -1
                return (0...86400).contains($0.quietTime)
            },
        ]
        + allEvents.map { event in
            BridgeSetting(
                event, takes: "an absolute path of a program and its arguments, separated by spaces",
                clear: { $0.commands.removeAll { $0.event == event } }
            ) { settings, text in
                let words = text.split { $0 == " " || $0 == "\t" }.map(String.init)
                guard let path = words.first, path.hasPrefix("/") else { return false }
                settings.commands.append(Command(event: event, path: path, arguments: Array(words.dropFirst())))
                return settings.commands.count <= 256
            }
        }

    /// The folders to search: those of the system before the user's.
    var folders: [String] {
        if let directories { return directories }
        var result = ["/etc/nowplayingd/hooks.d"]
        if let folder = SocketLocation.variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            result.append(folder + "/nowplayingd/hooks.d")
        } else if let home = SocketLocation.variable("HOME"), home.hasPrefix("/") {
            result.append(home + "/.config/nowplayingd/hooks.d")
        }
        return result
    }
}
