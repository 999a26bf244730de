import BridgeRuntime
import ConfigurationFiles
import ControlProtocol
import ControlServer
import Glibc
import LinuxSystem
import NowPlaying
import TrackDatabase

/// The library as a program, from its arguments to its exit status.
package enum LibraryProgram {
    /// Name of the program.
    package static let name = "nowplaying-library"

    /// Runs the library with these arguments (without the program's name) and returns its exit status: 0 after a clean
    /// end, 1 if it cannot start, 2 for an invalid command line, 78 if the configuration cannot work. Call it first, on the
    /// main thread.
    package static func run(_ arguments: [String]) -> Int32 {
        SignalMask.block([SIGTERM, SIGINT, SIGHUP])
        ProgramPages.shareHeap()
        Log.setProgram(name)
        let options: BridgeOptions
        do throws(BridgeOptions.UsageError) { options = try BridgeOptions(arguments) } catch {
            return print(PrintableText.escaped(error.message) + "\nTry “\(name) --help”.\n", to: 2, status: 2)
        }
        if options.showsHelp {
            return print(BridgeOptions.help(name, "the music library: scans folders and answers questions"), to: 1)
        }
        if options.showsVersion { return print("\(name) \(Product.version)\n", to: 1) }
        let settings: LibrarySettings
        let paths: LibraryPaths
        do throws(ConfigurationError) {
            settings = try load(options)
            if options.checksConfiguration { return print("The configuration is valid.\n", to: 1) }
            paths = try LibraryPaths(
                settings, daemonSocket: options.socket, uid: geteuid(), environment: environment
            ).leavingReadOnlyDisk(environment: environment)
        } catch {
            for message in error.messages { print(message + "\n", to: 2) }
            return ExitStatus.configuration
        }
        let roles: PeerRoles
        do throws(SocketFailure) {
            roles = try PeerRoles(
                ownUID: geteuid(), controlGroup: settings.controlGroup, readGroup: settings.readGroup)
        } catch {
            Log.error(error.message)
            return ExitStatus.configuration
        }
        do throws(SocketFailure) { return try serve(settings, paths, options, roles) } catch {
            Log.error(error.message)
            return ExitStatus.failure
        }
    }

    /// The settings; logs files that this user may not read.
    private static func load(_ options: BridgeOptions) throws(ConfigurationError) -> LibrarySettings {
        var unreadable: [String] = []
        let settings = try LibrarySettings.load(options.configurationFile, unreadable: &unreadable)
        for path in unreadable {
            Log.warning("ignored \(path): permission denied; make it readable, or remove it")
        }
        return settings
    }

    private static func serve(
        _ settings: LibrarySettings, _ paths: LibraryPaths, _ options: BridgeOptions, _ roles: PeerRoles
    ) throws(SocketFailure) -> Int32 {
        let limit = DescriptorLimit.raise(to: 32 << 10)
        let socket = try ControlSocket(
            SocketPlace(
                program: name, name: "library's socket", socket: paths.socket, stateDirectory: paths.stateDirectory,
                remedy: "name another path with socket in [library]"), groups: roles.groups)
        defer { socket.remove() }
        var database: TrackDatabase?
        let earlier = TrackDatabase.earlier(path: paths.database)
        if earlier == nil {
            do throws(TrackDatabaseError) { database = try TrackDatabase(path: paths.database) } catch {
                Log.error("\(paths.database): \(error.message)", LogFields(.databaseFailed))
                return 1
            }
        }
        let serverOptions = ControlServerOptions(roles: roles, descriptorLimit: limit, version: Product.version)
        var start: LibraryStart?
        let status = PlayerLoop.run { loop in
            let made = LibraryStart(loop, socket, serverOptions, settings, paths) { () throws(ConfigurationError) in
                try load(options)
            }
            start = made
            if let database { made.serve(database) }
            if let earlier { made.upgrade(earlier) }
        }
        PlayerLoop.assumeIsolated { withExtendedLifetime(start) { start = nil } }
        return status
    }

    /// A variable of the environment that is set and not empty.
    static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    @discardableResult
    private static func print(_ text: String, to descriptor: Int32, status: Int32 = 0) -> Int32 {
        var text = text
        return text.withUTF8 { write(descriptor, $0.baseAddress, $0.count) == $0.count ? status : 1 }
    }
}
