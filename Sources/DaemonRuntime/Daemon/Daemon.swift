import ConfigurationFiles
import ControlProtocol
import ControlServer
import DaemonConfiguration
import Glibc
import LinuxSystem
import NowPlaying
package import Sessions

/// The daemon as a whole: reads its configuration, takes its socket, and serves until it is ended.
package enum Daemon {
    /// Version of the daemon and of everything that is released with it.
    package static let version = Product.version

    /// Runs the daemon with these arguments (without the program's name) and returns its exit status: 0 after a clean
    /// end, 1 if it cannot start, 2 for an invalid command line, 78 if the configuration cannot work. Call it first, on the
    /// main thread.
    package static func run(
        _ arguments: [String],
        makeHandler: @escaping @PlayerLoop (SessionContext) throws(DaemonFailure) -> any MethodHandler
    ) -> Int32 {
        SignalMask.block([SIGTERM, SIGINT, SIGHUP])
        ProgramPages.shareHeap()
        // This variable would change the latency that the output requests.
        unsetenv("PULSE_LATENCY_MSEC")
        let options: DaemonOptions
        do throws(DaemonOptions.UsageError) { options = try DaemonOptions(arguments) } catch {
            print(PrintableText.escaped(error.message) + "\nTry “nowplayingd --help”.", to: 2)
            return 2
        }
        if options.showsHelp { return print(DaemonOptions.help, to: 1) }
        if options.showsVersion { return print("nowplayingd \(version)", to: 1) }
        if options.showsProtocol {
            return print(JSONWriter.text(Catalogue.table.discovery(version: version)), to: 1)
        }
        let contents: ConfigurationFile.Contents
        do throws(ConfigurationError) {
            contents = try ConfigurationFile.read(options.configurationFile)
        } catch {
            for message in error.messages { print(message, to: 2) }
            return ExitStatus.configuration
        }
        if options.checksConfiguration { return print("The configuration is valid.", to: 1) }
        let configuration = options.applied(to: contents.configuration)
        Log.setLevel(configuration.logLevel)
        ConfigurationFile.warn(of: contents)
        do throws(DaemonFailure) { return try serve(configuration, contents, options, makeHandler) } catch {
            Log.error(error.message, LogFields(error.isOfConfiguration ? .configurationInvalid : nil))
            return error.isOfConfiguration ? ExitStatus.configuration : ExitStatus.failure
        }
    }

    @discardableResult
    private static func print(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text.hasSuffix("\n") ? text : text + "\n"
        return text.withUTF8 { write(descriptor, $0.baseAddress, $0.count) == $0.count ? 0 : 1 }
    }

    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    private static func serve(
        _ configuration: Configuration, _ contents: ConfigurationFile.Contents, _ options: DaemonOptions,
        _ makeHandler: @escaping @PlayerLoop (SessionContext) throws(DaemonFailure) -> any MethodHandler
    ) throws(DaemonFailure) -> Int32 {
        if case .standardOutput = configuration.output { try checkStandardOutput() }
        // The first socket of the service manager has this number (sd_listen_fds(3)).
        let handed = environment("LISTEN_PID") == "\(getpid())" ? ServiceManager.path(ofSocket: 3) : nil
        let paths = try DaemonPaths(configuration, uid: geteuid(), handedSocket: handed, environment: environment)
            .leavingReadOnlyDisk(environment: environment)
        let roles: PeerRoles
        let socket: ControlSocket
        let limit = DescriptorLimit.raise(to: 32 << 10)
        do throws(SocketFailure) {
            roles = try PeerRoles(
                ownUID: geteuid(), controlGroup: configuration.controlGroup, remoteGroup: configuration.remoteGroup,
                readGroup: configuration.readGroup)
        } catch {
            throw DaemonFailure(error.message, isOfConfiguration: true)
        }
        do throws(SocketFailure) {
            socket = try ControlSocket(
                SocketPlace(
                    program: Product.name, name: "control socket", socket: paths.socket,
                    stateDirectory: paths.stateDirectory, remedy: "choose another path with --socket"),
                groups: roles.groups)
        } catch {
            throw DaemonFailure(error.message)
        }
        let background = socket.path.flatMap { BackgroundListener(beside: $0) }
        defer {
            socket.remove()
            background?.remove()
        }
        let serverOptions = ControlServerOptions(roles: roles, descriptorLimit: limit, version: version)
        let encoder = StateEncoder(bootID: bootID())
        var failure: DaemonFailure?
        var running: RunningDaemon?
        let status = PlayerLoop.run { loop in
            do throws(DaemonFailure) {
                running = try RunningDaemon(
                    loop, socket, background, serverOptions, encoder, configuration, contents, options, paths,
                    makeHandler)
            } catch {
                failure = error
                loop.exit(1)
            }
        }
        PlayerLoop.assumeIsolated { withExtendedLifetime(running) { running = nil } }
        if let failure { throw failure }
        return status
    }

    /// Throws if the samples have no pipe to go to.
    private static func checkStandardOutput() throws(DaemonFailure) {
        var status = stat()
        guard fstat(1, &status) != 0 || status.st_mode & S_IFMT != S_IFIFO else { return }
        throw DaemonFailure(
            "output = - cannot play: the standard output is not a pipe; start nowplayingd --output - | PROGRAM, "
                + "or write a file with output = file:PATH,RATE:BITS:CHANNELS", isOfConfiguration: true)
    }

    /// Identifier of the host's boot (random(4)); empty: unknown.
    private static func bootID() -> String {
        guard let file = fopen("/proc/sys/kernel/random/boot_id", "re") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 36)
        let got = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(got), as: UTF8.self)
    }
}
