import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying
import NowPlayingClient

/// Modes and volume.
extension Commands {
    /// Carries out a command that sets or asks for a setting.
    func setting(_ request: MPDRequest, _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        switch request.command {
        case .repeat, .random, .single, .consume: try mode(request, client, finish)
        case .crossfade:
            let seconds = try request.arguments[0].count()
            daemon.call("crossfade.set", ["seconds": .integer(Int64(min(seconds, 30)))], for: client, finish)
        case .mixrampdb:
            mixRamp.level = try request.arguments[0].decimal()
            noteHere(.options)
            finish(.ok)
        case .mixrampdelay:
            mixRamp.delay = try request.arguments[0].decimal()
            noteHere(.options)
            finish(.ok)
        case .replayGainMode:
            let word = request.arguments[0].text
            guard ["off", "track", "album", "auto"].contains(word) else {
                throw MPDFailure(.argument, "Unrecognized replay gain mode")
            }
            daemon.call("loudness.set", ["mode": .string(word)], for: client, finish)
        case .replayGainStatus:
            client.writer.pair("replay_gain_mode", mirror.state?.text("loudness", "mode") ?? "off")
            finish(.ok)
        case .setvol:
            // Home Assistant's step goes beyond 100.
            let level = try request.arguments[0].number(0...110)
            setVolume(Double(min(level, 100)) / 100, client, finish)
        case .volume:
            let step = try request.arguments[0].number(-100...100)
            setVolume(min(1, max(0, (mirror.state?.volume ?? 0) + Double(step) / 100)), client, finish)
        case .getvol:
            if let volume { client.writer.pair("volume", volume) }
            finish(.ok)
        case _:
            // The daemon's error ends with the next sound; until then clients are not shown it any more.
            hideError()
            noteHere(.player)
            finish(.ok)
        }
    }

    /// The volume as MPD has it, 0 while muted; nil: there is no mixer.
    var volume: Int64? {
        guard let state = mirror.state, let volume = state.volume, !mirror.isExternal else { return nil }
        return state.isMuted ? 0 : Int64(clamping: (volume * 100).rounded())
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
            // Albums in random order are random already.
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

/// Settings of MixRamp. The daemon has none: clients find them as they were set.
struct MixRamp: Equatable, Sendable {
    /// Decibels.
    var level = 0.0
    /// Seconds; not a number: off.
    var delay = Double.nan
}
