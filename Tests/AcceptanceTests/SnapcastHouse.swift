import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

/// A daemon that plays to a real Snapcast server, and the frames that the server's rooms hear.
struct SnapcastHouse {
    /// Seconds of the server's buffer.
    static let buffer = 1.0
    static let rate = 48000.0

    let server: Snapserver
    let daemon: RealDaemon
    let client: Client

    static func start(settings: String = "") async -> SnapcastHouse {
        let folder = TemporaryFolder()
        let server = await Snapserver.start(in: folder)
        return await start(folder, server, settings: settings)
    }

    static func start(_ folder: TemporaryFolder, _ server: Snapserver, settings: String = "") async -> SnapcastHouse {
        let file = folder.write(Array(settings.utf8), "settings.conf")
        let daemon = await RealDaemon.start(
            nil, output: "snapcast:\(server.host)", in: folder, readsTitles: false,
            before: Precedence.words, ["--config", file])
        let client = daemon.connect()
        client.call("nowPlaying.subscribe")
        return SnapcastHouse(server: server, daemon: daemon, client: client)
    }

    /// A file with a code of so many seconds.
    func code(_ name: String, from second: Double = 0, seconds: Double) -> JSONValue {
        .string(
            daemon.folder.codeWave(
                name, from: Int(second * Self.rate), count: Int(seconds * Self.rate), rate: Int(Self.rate)))
    }
}
