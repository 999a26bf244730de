import ControlProtocol
package import DaemonConfiguration
package import LinuxSystem

/// The command line of the daemon.
package struct DaemonOptions: Equatable, Sendable {
    /// An invalid command line, in words.
    package struct UsageError: Error, Equatable, Sendable {
        package let message: String
    }

    /// One option. The parser, `--help` and the manual use the table of options.
    package struct Option: Sendable {
        package let name: String
        /// Its letter after one dash; nil: none.
        package let short: Character?
        /// Placeholder of its value in the help; nil: it takes none.
        package let value: String?
        package let help: String
        let apply: @Sendable (inout DaemonOptions, String) -> Bool

        init(
            name: String, short: Character? = nil, value: String?, help: String,
            apply: @escaping @Sendable (inout DaemonOptions, String) -> Bool
        ) {
            self.name = name
            self.short = short
            self.value = value
            self.help = help
            self.apply = apply
        }
    }

    package var configurationFile: String?
    package var checksConfiguration = false
    package var showsProtocol = false
    package var showsVersion = false
    package var showsHelp = false
    package var socket: String?
    package var stateDirectory: String?
    package var output: OutputChoice?
    package var sink: String?
    package var logLevel: LogLevel?

    /// All options, in the order of the help.
    package static let all: [Option] = [
        Option(name: "config", value: "FILE", help: "read only this configuration") {
            $0.configurationFile = $1
            return !$1.isEmpty
        },
        Option(name: "check-config", value: nil, help: "check the configuration and exit") { options, _ in
            options.checksConfiguration = true
            return true
        },
        Option(name: "socket", value: "PATH", help: "path of the control socket") {
            $0.socket = $1
            return !$1.isEmpty
        },
        Option(name: "state-directory", value: "DIR", help: "directory of the daemon's state") {
            $0.stateDirectory = $1
            return !$1.isEmpty
        },
        Option(name: "output", value: "pulse|null|pipe:PATH|snapcast:HOST|file:PATH|-", help: "output for the sound") {
            $0.output = OutputChoice($1)
            return $0.output != nil
        },
        Option(name: "sink", value: "NAME", help: "sink of the sound server") {
            $0.sink = $1
            return !$1.isEmpty
        },
        Option(name: "log-level", value: "error|warning|info|debug", help: "log messages of this level and above") {
            $0.logLevel = LogLevel(rawValue: $1)
            return $0.logLevel != nil
        },
        Option(
            name: "openrpc", value: nil,
            help: "print the protocol as rpc.discover answers it, an OpenRPC document, and exit"
        ) { options, _ in
            options.showsProtocol = true
            return true
        },
        Option(name: "version", short: "V", value: nil, help: "print the version and exit") { options, _ in
            options.showsVersion = true
            return true
        },
        Option(name: "help", short: "h", value: nil, help: "print this help and exit") { options, _ in
            options.showsHelp = true
            return true
        },
    ]

    /// No options.
    package init() {}

    /// Reads `--name VALUE`, `--name=VALUE` and `--name`.
    package init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if let option = Self.all.first(where: { $0.short.map { "-\($0)" } == argument }) {
                try take(option, nil, &rest)
                continue
            }
            guard argument.hasPrefix("--") else {
                throw UsageError(message: "unexpected argument “\(argument)”; nowplayingd takes only options")
            }
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let option = Self.all.first(where: { $0.name == name }) else {
                let nearest = NearestName.suggestion(for: name, among: Self.all.map(\.name))
                throw UsageError(
                    message: "unknown option “--\(name)”" + (nearest.map { "; did you mean “--\($0)”?" } ?? ""))
            }
            try take(option, parts.count > 1 ? String(parts[1]) : nil, &rest)
        }
    }

    private mutating func take(
        _ option: Option, _ attached: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        guard let kind = option.value else {
            guard attached == nil else { throw UsageError(message: "“--\(option.name)” takes no value") }
            _ = option.apply(&self, "")
            return
        }
        guard let value = attached ?? rest.popFirst() else {
            throw UsageError(message: "“--\(option.name)” needs a value: \(kind)")
        }
        guard option.apply(&self, value) else {
            throw UsageError(message: "invalid value “\(value)” for “--\(option.name)” (expected \(kind))")
        }
    }

    /// The configuration with the values of these options.
    package func applied(to configuration: Configuration) -> Configuration {
        var result = configuration
        result.socket = socket ?? result.socket
        result.stateDirectory = stateDirectory ?? result.stateDirectory
        result.output = output ?? result.output
        result.sink = sink ?? result.sink
        result.logLevel = logLevel ?? result.logLevel
        return result
    }

    /// The text of `--help`.
    package static var help: String {
        var text = "Usage: nowplayingd [OPTION]…\nPlayer daemon for speaker boxes.\n\n"
        let names = all.map { ($0.short.map { "-\($0), " } ?? "") + "--\($0.name)" + ($0.value.map { " \($0)" } ?? "") }
        let width = (names.map(\.count).max() ?? 0) + 2
        for (name, option) in zip(names, all) {
            text += "  " + name + String(repeating: " ", count: width - name.count) + option.help + "\n"
        }
        return text + "\nSee nowplayingd(1), nowplayingd.conf(5) and nowplayingd-protocol(7).\n"
    }
}
