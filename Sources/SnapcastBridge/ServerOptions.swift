/// The command line that a Snapcast server gives to its control script: options of the server, and our own.
package struct ServerOptions: Equatable, Sendable {
    /// Name of the stream at the server; empty: no server gave a name.
    package private(set) var stream = ""
    /// True if the server knows the property `mute`, which 0.26 logs as unknown. Servers that give their host know it.
    package private(set) var knowsMute = false
    /// The arguments that are not the server's.
    package private(set) var rest: [String] = []

    /// Reads a command line without the name of the program.
    package init(_ arguments: [String]) {
        for argument in arguments {
            if argument.hasPrefix("--stream=") {
                stream = String(argument.dropFirst("--stream=".count))
            } else if argument.hasPrefix("--snapcast-host=") {
                knowsMute = true
            } else if !argument.hasPrefix("--snapcast-port=") {
                rest.append(argument)
            }
        }
    }
}
