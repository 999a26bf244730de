import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport

/// One row of the table, played by a daemon of its own. On a thread that may wait.
final class BadServerRun {
    private let row: BadServerRow
    private let server: BadServer
    private let material: BadServerMaterial
    private let redirector: Redirector
    private let lane: BadServerLane
    private let folder = TemporaryFolder()
    /// Result of the row.
    private(set) var outcome = BadServerOutcome()

    /// Plays the row.
    init(_ row: BadServerRow, _ material: BadServerMaterial, _ redirector: Redirector, _ lane: BadServerLane) {
        (self.row, self.material, self.redirector, self.lane) = (row, material, redirector, lane)
        server = BadServer(row, material) { redirector.redirect(to: $0, number: $1) }
        let first = lane.recorder.frames
        let begin = MonotonicTime.now
        play()
        // All that the sink has taken is recorded then.
        lane.wait(seconds: 0.3)
        outcome.end(
            server.progress, seconds: MonotonicTime.now.seconds(since: begin),
            heard: HeardFrames(lane.heard(from: first), of: material.sources(row).map(\.frames)))
    }

    /// Seconds that a row plays on to show that it plays.
    private static let moment = 1.5

    private func play() {
        let (daemon, client) = start()
        follow(client, client.call("nowPlaying.subscribe"))
        client.call("queue.add", ["items": [.string(server.address)]])
        outcome.answered(client.error("play"))
        if row.isSought {
            _ = until(client) { $0.playing == "playing" }
            client.call("changePlaybackPosition", ["position": .number(BadServerRow.soughtPosition)])
        }
        if row.isLive || row.trouble == .restart {
            _ = until(client) { $0.playing == "playing" && !(row.isSought && $0.elapsed < 1) }
            lane.wait(seconds: Self.moment)
        }
        if row.isLive {
            switch row.trouble {
            case .drop, .silence:
                // Reconnected, and heard after all that was ahead.
                let (server, row) = (server, row)
                outcome.require(
                    becomes { row.format == .hls ? server.progress.parts >= 7 : server.progress.bodies.count >= 2 },
                    "no other connection")
                lane.wait(seconds: 2 * Self.moment)
                _ = until(client, mayBePresent: true) { $0.playing == "playing" }
                lane.wait(seconds: Self.moment)
            case .notFound, .redirects, .restart: break
            }
        } else if row.trouble != .restart {
            _ = until(client) { [self] in $0.playing == "stopped" && outcome.hasPlayed }
        }
        end(daemon, client)
        if row.trouble == .restart { playAgain() }
    }

    private func playAgain() {
        outcome.restarted(server.progress)
        let (daemon, client) = start()
        follow(client, client.call("nowPlaying.subscribe"))
        if row.isLive {
            _ = until(client, mayBePresent: true) { $0.playing == "playing" }
            lane.wait(seconds: Self.moment)
        } else {
            _ = until(client) { [self] in $0.playing == "stopped" && outcome.hasPlayed }
        }
        end(daemon, client)
    }

    // MARK: Daemon

    private func end(_ daemon: RealDaemon, _ client: Client) {
        // All states of before come before its answer.
        client.call("nowPlaying.get")
        outcome.stopped(daemon.stop(), client.takeNotifications())
    }

    private func start() -> (RealDaemon, Client) {
        let settings = "[playback]\nresume = playing\n[network]\nca-file = \(redirector.certificate)\n"
        let (folder, lane) = (folder, lane)
        let arguments = ["--config", folder.write(Array(settings.utf8), "settings.conf")]
        let daemon = Blocking.run {
            await RealDaemon.start(
                lane.server, sink: lane.sink.name, in: folder, isLogged: true, readsTitles: false, arguments)
        }
        return (daemon, daemon.connect())
    }

    private func follow(_ client: Client, _ state: JSONValue?) { outcome.saw(state ?? .null) }

    /// Follows the states until one of which this is true. `mayBePresent`: the present one, too.
    private func until(
        _ client: Client, mayBePresent: Bool = false, _ isLast: (JSONValue) -> Bool
    ) -> JSONValue {
        if mayBePresent {
            for state in client.takeNotifications() { outcome.saw(state) }
            if let present = client.call("nowPlaying.get"), isLast(present) { return present }
        }
        // The longest wait of a row is that for a silent server.
        for _ in 0..<100 where !client.isBroken {
            let state = client.event()
            outcome.saw(state)
            if isLast(state) { return state }
        }
        outcome.require(false, "it did not come there; the log ends: \(log)")
        return .null
    }

    private var log: String { String(decoding: folder.read("log").suffix(600), as: UTF8.self) }
}
