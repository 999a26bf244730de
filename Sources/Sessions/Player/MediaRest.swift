import LinuxSystem
import NowPlaying
import PlaybackEngine
import StateKeeping

/// A pause of all work with media, because an earlier run may have died of it.
@PlayerLoop final class MediaRest {
    private enum Phase {
        case none
        /// The state of the earlier run is being restored.
        case restoring(EarlyDeaths)
        /// It ends with the first state that has another item than this one, or plays.
        case until(otherThan: ItemID?, EarlyDeaths)
    }

    private let player: Player
    private let artwork: ArtworkKeeper?
    private let keeper: FeedbackKeeper?
    private var phase = Phase.none

    /// A pause of the work of this player, its pictures and its feedback; it has not begun.
    init(_ player: Player, _ artwork: ArtworkKeeper?, _ keeper: FeedbackKeeper?) {
        self.player = player
        self.artwork = artwork
        self.keeper = keeper
    }

    /// Why nothing that was restored is opened; nil: nothing is in its way.
    var reason: String? {
        switch phase {
        case .none: nil
        case .restoring(let deaths), .until(_, let deaths): deaths.words
        }
    }

    /// Opens no media and searches no pictures, until a state departs from the restored one (`restored`).
    func begin(after deaths: EarlyDeaths) {
        phase = .restoring(deaths)
        artwork?.rest()
        keeper?.rest()
        player.pauseTitles()
    }

    /// The state of the earlier run is restored: a state with another item, or one that plays, ends the rest.
    func restored() {
        if case .restoring(let deaths) = phase { phase = .until(otherThan: player.state.item?.id, deaths) }
    }

    /// A state of the player was published.
    func follow(_ state: NowPlayingState) {
        guard case .until(let item, let deaths) = phase else { return }
        let isAtRest = state.state == .paused || state.state == .stopped
        if isAtRest, state.item?.id == item { return }
        deaths.asked()
        phase = .none
        artwork?.wake()
        keeper?.wake()
        player.resumeTitles()
    }
}
