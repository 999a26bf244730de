import ConfigurationFiles
import ControlProtocol
import Glibc
package import LinuxSystem
import NowPlaying
import NowPlayingClient

/// Failure to start or continue a bridge, in words for people.
package struct BridgeFailure: Error, Equatable, Sendable {
    package let message: String
    /// True if the configuration cannot work: another attempt would fail, too.
    let isOfConfiguration: Bool

    /// A failure with these words.
    package init(_ message: String, isOfConfiguration: Bool = false) {
        self.message = message
        self.isOfConfiguration = isOfConfiguration
    }
}

/// A program that follows the daemon for as long as the machine runs.
@PlayerLoop package protocol Bridge: AnyObject {
    /// Its settings from the configuration files.
    associatedtype Settings: BridgeSettings

    /// Starts the bridge, and sets the daemon's handlers.
    init(_ context: BridgeContext, _ settings: Settings) throws(BridgeFailure)
    /// Applies the settings that may change while the bridge runs, after SIGHUP.
    func reload(_ settings: Settings)
    /// Ends the bridge's connections and work, and then calls `exit` of the loop.
    func end()
}

/// Environment of a bridge.
@PlayerLoop package struct BridgeContext {
    package let loop: EventLoop
    package let daemon: FollowedDaemon
    package let log: BridgeLog
}

/// A bridge as a program, from its arguments to its exit status.
package enum BridgeProgram {
    /// Runs the bridge with these arguments (without the program's name) and returns its exit status: 0 after a clean end,
    /// 1 if it cannot continue, 2 if the command line is invalid, 78 if the configuration cannot work. To be called first of
    /// all, on the main thread.
    package static func run<B: Bridge>(
        _ kind: B.Type, program: String, summary: String, _ arguments: [String]
    ) -> Int32 {
        SignalMask.block([SIGTERM, SIGINT, SIGHUP])
        Log.setProgram(program)
        let options: BridgeOptions
        do throws(BridgeOptions.UsageError) { options = try BridgeOptions(arguments) } catch {
            return print(PrintableText.escaped(error.message) + "\nTry “\(program) --help”.\n", to: 2, status: 2)
        }
        if options.showsHelp { return print(BridgeOptions.help(program, summary), to: 1) }
        if options.showsVersion { return print("\(program) \(Product.version)\n", to: 1) }
        let settings: B.Settings
        var unreadable: [String] = []
        do throws(ConfigurationError) {
            settings = try B.Settings.load(options.configurationFile, unreadable: &unreadable)
        } catch {
            for message in error.messages { print(message + "\n", to: 2) }
            return ExitStatus.configuration
        }
        let log = BridgeLog(program: program)
        log.warn(ofUnreadable: unreadable)
        if options.checksConfiguration { return print("The configuration is valid.\n", to: 1) }
        var running: RunningBridge<B>?
        let status = PlayerLoop.run { loop in
            do throws(BridgeFailure) { running = try RunningBridge(loop, log, options, settings) } catch {
                log.error(error.message, error.isOfConfiguration ? .configurationInvalid : nil)
                loop.exit(error.isOfConfiguration ? ExitStatus.configuration : ExitStatus.failure)
            }
        }
        PlayerLoop.assumeIsolated { withExtendedLifetime(running) { running = nil } }
        return status
    }

    @discardableResult
    private static func print(_ text: String, to descriptor: Int32, status: Int32 = 0) -> Int32 {
        var text = text
        return text.withUTF8 { write(descriptor, $0.baseAddress, $0.count) == $0.count ? status : 1 }
    }
}

/// The parts of a bridge while it runs.
@PlayerLoop private final class RunningBridge<B: Bridge> {
    private let bridge: B
    private let daemon: FollowedDaemon
    private var signals: [EventSource] = []
    private let rest: BridgeRest

    init(
        _ loop: EventLoop, _ log: BridgeLog, _ options: BridgeOptions, _ settings: B.Settings
    ) throws(BridgeFailure) {
        rest = BridgeRest(loop)
        do {
            daemon = try FollowedDaemon(loop, paths: SocketLocation.candidates(option: options.socket))
        } catch { throw BridgeFailure(FailureText.of(error)) }
        daemon.onFailure = { error in
            log.error(FailureText.of(error))
            loop.exit(1)
        }
        bridge = try B(BridgeContext(loop: loop, daemon: daemon, log: log), settings)
        for number in [SIGTERM, SIGINT] {
            let end = loop.signal(number) { [unowned self] in
                ServiceManager.notify("STOPPING=1")
                bridge.end()
            }
            if let end { signals.append(end) }
        }
        let reload = loop.signal(SIGHUP) { [unowned self] in
            var unreadable: [String] = []
            do throws(ConfigurationError) {
                bridge.reload(try B.Settings.load(options.configurationFile, unreadable: &unreadable))
                log.warn(ofUnreadable: unreadable)
                log.info("configuration reloaded")
            } catch {
                for message in error.messages {
                    log.error("configuration not reloaded: \(message)", .configurationInvalid)
                }
            }
        }
        if let reload { signals.append(reload) }
        ServiceManager.notify("READY=1")
    }
}
