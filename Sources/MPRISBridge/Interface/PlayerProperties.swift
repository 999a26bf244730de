import BridgeRuntime
import ControlProtocol
import NowPlaying
import NowPlayingClient

/// The properties of the interfaces for a state. They are values, which are compared to find the changed properties.
enum PlayerProperties {
    /// The properties of `org.mpris.MediaPlayer2.Player` except `Position`, which is computed at each read, and `CanControl`,
    /// which never changes. `picture`: the path of the item's picture, if it is known.
    static func player(_ state: StateView, _ commands: CommandTable, picture: String? = nil) -> BusDictionary {
        [
            "PlaybackStatus": .string(status(state)),
            "LoopStatus": .string(loops[state.text("repeatMode") ?? ""] ?? "None"),
            "Rate": .double(rate(state)),
            "Shuffle": .bool(isShuffled(state)),
            "Metadata": .dictionary(TrackMetadata.of(state.item, picture: picture)),
            "Volume": .double(volume(state)),
            "MinimumRate": .double(min(commands.rates.first ?? 1, 1)),
            "MaximumRate": .double(max(commands.rates.last ?? 1, 1)),
            "CanGoNext": .bool(commands.allows("nextTrack")),
            "CanGoPrevious": .bool(commands.allows("previousTrack")),
            "CanPlay": .bool(commands.allows("play")),
            "CanPause": .bool(commands.allows("pause") && state.item != nil),
            "CanSeek": .bool(commands.allows("changePlaybackPosition") && state.item != nil),
        ]
    }

    /// The properties of `org.mpris.MediaPlayer2`, which never change. `schemes`: the uri schemes that the daemon accepts;
    /// `types`: the media types that it decodes.
    static func root(schemes: [String], types: [String]) -> BusDictionary {
        [
            "CanQuit": .bool(false), "CanRaise": .bool(false), "Fullscreen": .bool(false),
            "CanSetFullscreen": .bool(false), "HasTrackList": .bool(true), "Identity": .string(Product.name),
            "SupportedUriSchemes": .strings(schemes), "SupportedMimeTypes": .strings(types),
        ]
    }

    /// Playback status in MPRIS's three words. Clients advance the position while the status is `Playing`. If sound is
    /// requested but not audible, the position stands still, so the status is `Paused`.
    static func status(_ state: StateView) -> String {
        switch state.state {
        case .playing: "Playing"
        case .paused, .interrupted, .stalled: "Paused"
        case .stopped, nil: "Stopped"
        }
    }

    /// The rate at which the daemon plays or would play; never 0, which MPRIS forbids.
    static func rate(_ state: StateView) -> Double { state.playingRate }

    /// True if the order of items or collections is random.
    static func isShuffled(_ state: StateView) -> Bool { (state.text("shuffleMode") ?? "off") != "off" }

    /// Audible volume: MPRIS has no mute except 0.
    static func volume(_ state: StateView) -> Double {
        state.isMuted ? 0 : max(0, min(1, state.volume ?? 1))
    }

    /// The protocol's word for a `LoopStatus`; nil: the status is invalid.
    static func repeatMode(_ status: String) -> String? {
        loops.first { $0.value == status }?.key
    }

    private static let loops = ["off": "None", "one": "Track", "all": "Playlist"]
}
