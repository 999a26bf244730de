import ControlProtocol

/// The command line of a program beside the daemon.
package struct BridgeOptions: Equatable {
    package private(set) var configurationFile: String?
    /// Path of the daemon's socket.
    package private(set) var socket: String?
    package private(set) var checksConfiguration = false
    package private(set) var showsVersion = false
    package private(set) var showsHelp = false

    /// The error of an invalid command line, in words.
    package struct UsageError: Error {
        package let message: String
    }

    private static let names = ["--config", "--socket", "--check-config", "--version", "--help"]

    /// Reads `--name VALUE`, `--name=VALUE` and `--name`.
    package init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = parts[0]
            switch name {
            case "--config", "--socket":
                guard let value = parts.count > 1 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                    throw UsageError(message: "“\(name)” needs a value")
                }
                if name == "--config" { configurationFile = value } else { socket = value }
            case "--check-config" where parts.count == 1: checksConfiguration = true
            case "--version" where parts.count == 1, "-V": showsVersion = true
            case "--help" where parts.count == 1, "-h": showsHelp = true
            default:
                let nearest = NearestName.suggestion(for: name, among: BridgeOptions.names)
                throw UsageError(
                    message: "unknown argument “\(argument)”" + (nearest.map { "; did you mean “\($0)”?" } ?? ""))
            }
        }
    }

    /// The text of `--help`.
    package static func help(_ program: String, _ summary: String) -> String {
        """
        \(program): \(summary)

        Usage: \(program) [OPTIONS]

        Options
          --config FILE     read only this configuration
          --check-config    check the configuration and exit
          --socket PATH     use this socket instead of $NOWPLAYING_SOCKET and the default paths
          -V, --version     print the version and exit
          -h, --help        print this help and exit

        Manual: man \(program)

        """
    }
}
