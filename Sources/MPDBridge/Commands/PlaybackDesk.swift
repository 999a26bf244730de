import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying
import NowPlayingClient

/// Playback.
@PlayerLoop final class PlaybackDesk: CommandDesk {
    private let mirror: PlayerMirror
    private let daemon: DaemonCalls
    private let notes: PartitionNotes

    /// Playback of the session of this mirror.
    init(_ mirror: PlayerMirror, _ daemon: DaemonCalls, _ notes: PartitionNotes) {
        self.mirror = mirror
        self.daemon = daemon
        self.notes = notes
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let first = request.arguments.first
        let state = mirror.state?.state ?? .stopped
        switch request.command {
        case .play:
            guard let first, first.text != "-1" else { return resume(client, finish) }
            let index = try first.count()
            let item = Int64(try mirror.id(at: index))
            notes.showError(of: item)
            daemon.call("play", ["itemId": .integer(item)], for: client, finish)
        case .playid:
            guard let first, first.text != "-1" else { return resume(client, finish) }
            let item = Int64(try mirror.known(first))
            notes.showError(of: item)
            daemon.call("play", ["itemId": .integer(item)], for: client, finish)
        case .pause:
            // `pause` has no effect while the daemon is stopped.
            guard state != .stopped else { return finish(.ok) }
            guard let first else { return daemon.call("togglePlayPause", for: client, finish) }
            daemon.call(try first.flag() ? "pause" : "play", for: client, finish)
        case .stop: daemon.call("stop", for: client, finish)
        case .next, .previous:
            guard state != .stopped else { throw MPDFailure(.playerSync, "Not playing") }
            if request.command == .next { return daemon.call("nextTrack", for: client, finish) }
            daemon.call("previousTrack", ["restart": false], for: client, finish)
        case .seek:
            let position = try request.arguments[1].seconds()
            try seek(to: position, of: try mirror.id(at: try request.arguments[0].count()), client, finish)
        case .seekid:
            let position = try request.arguments[1].seconds()
            try seek(to: position, of: try mirror.known(request.arguments[0]), client, finish)
        case _: try seekCurrent(request.arguments[0], state, client, finish)
        }
    }

    private func resume(_ client: MPDClient, _ finish: @escaping Finish) {
        // `play` with an empty queue has no effect and is no failure.
        guard !mirror.queue.ids.isEmpty else { return finish(.ok) }
        notes.showError(of: (mirror.current ?? mirror.queue.ids.first).map { Int64($0) })
        daemon.call("play", for: client, finish)
    }

    private func seekCurrent(
        _ argument: Argument, _ state: PlaybackState, _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        let isRelative = [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(argument.bytes.first)
        let value = try argument.signedSeconds()
        guard let current = mirror.current, state != .stopped else { throw MPDFailure(.playerSync, "Not playing") }
        let position = isRelative ? (mirror.state?.position(at: EventLoop.now) ?? 0) + value : value
        try seek(to: max(0, position), of: current, client, finish)
    }

    /// Seeks in an item, and plays it if it is not current or playback is stopped. A position after the end means the end.
    private func seek(
        to position: Double, of id: Int32, _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        guard id == mirror.current, let state = mirror.state, state.state != .stopped else {
            return daemon.call(
                "play", ["itemId": .integer(Int64(id)), "position": .number(position)], for: client, finish)
        }
        let end = state.duration ?? .infinity
        daemon.call("changePlaybackPosition", ["position": .number(min(position, end))], for: client, finish)
    }
}
