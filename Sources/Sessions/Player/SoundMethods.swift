import ControlProtocol
import ControlServer
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// Carries out the methods of volume, loudness, fades and the sleep timer.
@PlayerLoop final class SoundMethods {
    private let player: Player
    private let loop: EventLoop
    private var fade: VolumeFade?

    /// Methods about the sound of this player.
    init(_ player: Player, _ loop: EventLoop) {
        self.player = player
        self.loop = loop
    }

    /// True while the volume is on its way.
    var isFading: Bool { fade != nil }

    /// Ends a fade where it is.
    func endFade() { fade = nil }

    /// `volume.set`: answers with what is wished, which a fade reaches later.
    func volume(_ request: MethodRequest) -> MethodResult {
        var target = request.double("volume")
        if let step = request.double("step") {
            // Steps over time add up; a step at once begins with the audible volume.
            let base = request.double("over") == nil ? player.volumeLevel : fade?.target ?? player.volumeLevel
            target = max(0, min(1, base + step))
        }
        fade = nil
        if let target, let seconds = request.double("over"), seconds > 0 {
            player.setVolume(nil, muted: request.bool("muted"), by: request.client.originator)
            fade = VolumeFade(loop, from: player.volumeLevel, to: target, over: seconds) {
                [unowned self] volume, isLast in
                player.fadeVolume(volume, isLast: isLast, by: request.client.originator)
                if isLast { fade = nil }
            }
        } else {
            player.setVolume(target, muted: request.bool("muted"), by: request.client.originator)
        }
        return .success(["volume": .number(target ?? player.state.volume), "muted": .bool(player.state.muted)])
    }

    /// `loudness.set`: answers with what applies from now on.
    func loudness(_ request: MethodRequest) -> MethodResult {
        player.setLoudness(
            request.string("mode").flatMap(LoudnessMode.init), preamp: request.double("preamp"),
            by: request.client.originator)
        var writer = JSONWriter()
        StateEncoder.loudness(&writer, player.state.loudness)
        return .encoded(writer.bytes)
    }

    /// `crossfade.set`: answers with what applies from now on.
    func crossfade(_ request: MethodRequest) -> MethodResult {
        player.setCrossfade(
            CrossfadeSettings(seconds: request.double("seconds") ?? 0), by: request.client.originator)
        var writer = JSONWriter()
        StateEncoder.crossfade(&writer, player.state.crossfade)
        return .encoded(writer.bytes)
    }

    /// `fade.set`: answers with what applies from now on.
    func fades(_ request: MethodRequest) -> MethodResult {
        var settings = player.state.fades
        settings.fadeIn = request.double("fadeIn") ?? settings.fadeIn
        settings.fadeOut = request.double("fadeOut") ?? settings.fadeOut
        player.setFades(settings, by: request.client.originator)
        return .success(["fadeIn": .number(settings.fadeIn), "fadeOut": .number(settings.fadeOut)])
    }

    /// `sleep.set`: sets or cancels the timer, and answers with the timer.
    func sleep(_ request: MethodRequest) -> MethodResult {
        let fade = request.double("fade") ?? 0
        if request.string("endOf") != nil {
            player.setSleep(.endOfItem, fade: fade, by: request.client.originator)
        } else if let after = request.double("after"), after > 0 {
            player.setSleep(.at(EventLoop.now.advanced(bySeconds: after)), fade: fade, by: request.client.originator)
        } else {
            player.setSleep(nil, fade: 0, by: request.client.originator)
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.nullable("sleep", player.state.sleep, StateEncoder.sleep)
        writer.endObject()
        return .encoded(writer.bytes)
    }
}
