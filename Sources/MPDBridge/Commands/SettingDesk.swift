import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying
import NowPlayingClient

/// Modes and volume.
@PlayerLoop final class SettingDesk: CommandDesk {
    private let mirror: PlayerMirror
    private let daemon: DaemonCalls
    private let notes: PartitionNotes
    private let clients: PartitionClients

    /// Settings of the session of this mirror.
    init(_ mirror: PlayerMirror, _ daemon: DaemonCalls, _ notes: PartitionNotes, _ clients: PartitionClients) {
        self.mirror = mirror
        self.daemon = daemon
        self.notes = notes
        self.clients = clients
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        switch request.command {
        case .repeat, .random, .single, .consume: try mode(request, client, finish)
        case .crossfade:
            let seconds = try request.arguments[0].count()
            daemon.call("crossfade.set", ["seconds": .integer(Int64(min(seconds, 30)))], for: client, finish)
        case .mixrampdb:
            notes.set(mixRampLevel: try request.arguments[0].decimal())
            clients.noteHere(.options)
            finish(.ok)
        case .mixrampdelay:
            notes.set(mixRampDelay: try request.arguments[0].decimal())
            clients.noteHere(.options)
            finish(.ok)
        case .replayGainMode:
            let word = request.arguments[0].text
            guard ["off", "track", "album", "auto"].contains(word) else {
                throw MPDFailure(.argument, "Unrecognized replay gain mode")
            }
            daemon.call("loudness.set", ["mode": .string(word)], for: client, finish)
        case .replayGainStatus:
            client.write { $0.pair("replay_gain_mode", mirror.state?.text("loudness", "mode") ?? "off") }
            finish(.ok)
        case .setvol:
            // Home Assistant's volume step can exceed 100.
            let level = try request.arguments[0].number(0...110)
            setVolume(Double(min(level, 100)) / 100, client, finish)
        case .volume:
            let step = try request.arguments[0].number(-100...100)
            setVolume(min(1, max(0, (mirror.state?.volume ?? 0) + Double(step) / 100)), client, finish)
        case .getvol:
            if let volume = mirror.clientVolume { client.write { $0.pair("volume", volume) } }
            finish(.ok)
        case _:
            // The daemon keeps the error until the next sound; the bridge hides it from clients until then.
            notes.hide(mirror.state?.error)
            clients.noteHere(.player)
            finish(.ok)
        }
    }

    private func setVolume(_ volume: Double, _ client: MPDClient, _ finish: @escaping Finish) {
        daemon.call("volume.set", ["volume": .number(volume), "muted": false], for: client, finish)
    }

    private func mode(_ request: MPDRequest, _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let argument = request.arguments[0]
        var modes = Modes(mirror.state)
        switch request.command {
        case .random:
            let isRandom = try argument.flag()
            // Random albums count as random.
            guard isRandom != modes.isRandom else { return finish(.ok) }
            return daemon.call("changeShuffleMode", ["mode": isRandom ? "items" : "off"], for: client, finish)
        case .consume:
            return daemon.call(
                "changeConsumeMode", ["mode": .string(try Modes.Occasion(argument, of: "consume").word)], for: client,
                finish)
        case .repeat: modes.isRepeating = try argument.flag()
        case _: modes.single = try Modes.Occasion(argument, of: "single")
        }
        let single = modes.singleMode
        daemon.ask("changeRepeatMode", ["mode": .string(modes.repeatMode)], for: client) {
            [weak self, weak client] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success:
                guard let self, let client else { return finish(.ok) }
                daemon.call("changeSingleMode", ["mode": .string(single)], for: client, finish)
            }
        }
    }
}
