package import AudioCore
import ControlProtocol
package import ControlServer
package import DaemonConfiguration
package import LinuxSystem
package import MediaAccess
import NowPlaying
package import PlaybackEngine
package import StateKeeping

/// Carries out the methods that act on the player or ask it: gives each to the methods of its area.
@PlayerLoop package final class PlayerMethods {
    package let player: Player
    /// Keeps what must survive; nil: nothing does.
    let store: StateStore?
    /// Hands out pictures; nil: there are none.
    let artwork: ArtworkKeeper?
    /// Methods of outputs.
    let outputs: OutputMethods
    /// The available commands.
    let table: CommandTable
    /// Known mounts of disks with media; nil: none.
    private let mounts: MediaMounts?
    /// Looks up measured loudness; nil: nothing does.
    private let loudness: LoudnessLook?
    /// Remembers what is said of items; nil: nothing does.
    private let keeper: FeedbackKeeper?
    private let settings: LiveConfiguration
    private let rest: MediaRest
    private let commands: CommandMethods
    private let queue: QueueMethods
    private let sound: SoundMethods
    private let feedback: FeedbackMethods
    private let announcements: AnnouncementMethods
    private let diagnosis: DiagnosisMethods
    private let formats: FormatList

    /// Carries out methods on this player. `log` takes a warning without control characters.
    package init(
        _ loop: EventLoop, player: Player, output: any AudioOutput, opener: @escaping DecoderOpener,
        mounts: MediaMounts? = nil, loudness: LoudnessLook? = nil, encoder: StateEncoder, settings: LiveConfiguration,
        store: StateStore? = nil, artwork: ArtworkKeeper? = nil, feedback keeper: FeedbackKeeper? = nil,
        log: @escaping @PlayerLoop (String) -> Void
    ) {
        self.player = player
        self.mounts = mounts
        self.loudness = loudness
        self.settings = settings
        self.store = store
        self.artwork = artwork
        self.keeper = keeper
        outputs = OutputMethods(player, output, settings, store)
        table = CommandTable(player, settings, store, log: log)
        rest = MediaRest(player, artwork, keeper)
        feedback = FeedbackMethods(player, settings, keeper)
        commands = CommandMethods(player, settings, encoder, table, feedback)
        queue = QueueMethods(player, store)
        sound = SoundMethods(player, loop)
        announcements = AnnouncementMethods(player, settings)
        formats = FormatList(loop)
        diagnosis = DiagnosisMethods(
            loop, player, settings, opener: opener, artwork: artwork, store: store, rest: rest)
        player.setLanding(onAdvertisements: settings.current.landsOnAdvertisements)
        player.outputDelays.configure(settings.current.outputDelays)
    }

    // MARK: Requests

    /// Carries out a request that is meant for this player.
    package func perform(_ request: MethodRequest, _ answer: @escaping Answer) {
        switch request.method {
        case .command(let command): commands.perform(command, request, answer)
        case .other(let method): perform(method, request, answer)
        }
    }

    private func perform(_ method: MethodName.Other, _ request: MethodRequest, _ answer: @escaping Answer) {
        switch method {
        case .commandsList: answer(.success(table.list()))
        case .commandsConfigure: answer(table.configure(request))
        case .queueList: queue.perform(.list, request, answer)
        case .queueGet: queue.perform(.get, request, answer)
        case .queueChanges: queue.perform(.changes, request, answer)
        case .queueAdd: queue.perform(.add, request, answer)
        case .queueRemove: queue.perform(.remove, request, answer)
        case .queueMove: queue.perform(.move, request, answer)
        case .queueClear: queue.perform(.clear, request, answer)
        case .queueShuffle: queue.perform(.shuffle, request, answer)
        case .queuePrioritize: queue.perform(.prioritize, request, answer)
        case .itemUpdate: queue.perform(.update, request, answer)
        case .feedbackGet: feedback.get(request, answer)
        case .feedbackSet: feedback.set(request, answer)
        case .feedbackChanges: feedback.listChanges(request, answer)
        case .volumeSet: answer(sound.volume(request))
        case .loudnessSet: answer(sound.loudness(request))
        case .crossfadeSet: answer(sound.crossfade(request))
        case .fadeSet: answer(sound.fades(request))
        case .sleepSet: answer(sound.sleep(request))
        case .announce: announcements.announce(request, answer)
        case .outputList: outputs.list(answer)
        case .artworkGet:
            guard let artwork else { return answer(.failure(.noSuchContent("there are no pictures"))) }
            artwork.get(request, answer)
        case .formatsList: formats.list(answer)
        case .outputSelect: outputs.select(request, answer)
        case .outputDelaySet: outputs.setDelay(request, answer)
        case .diagnosticsGet: diagnosis.diagnose(request, answer)
        case .hello, .nowPlayingGet, .nowPlayingSubscribe, .nowPlayingUnsubscribe, .nowPlayingMap, .rpcDiscover,
            .daemonReload, .daemonQuit, .sessionList, .sessionCreate, .sessionActivate, .sessionClose,
            .nowPlayingPublish, .feedbackSubscribe, .feedbackUnsubscribe, .figuresGet:
            answer(.failure(.invalidRequest("the control server answers “\(request.method.rawValue)”")))
        }
    }

    // MARK: Life

    /// A connection ended: settings for its life are undone.
    func clientGone(_ client: ClientIdentity) {
        player.connectionEnded(client.number, by: client.originator)
        keeper?.desk.clientGone(client.number)
        table.connectionEnded(client)
    }

    /// The settings were read anew.
    func configurationChanged(from before: Configuration, by: Originator) {
        let configuration = settings.current
        // A client's setting counts more, as long as the file says the same as before.
        let mode = configuration.loudness != before.loudness ? configuration.loudness : nil
        let preamp = configuration.loudnessPreamp != before.loudnessPreamp ? configuration.loudnessPreamp : nil
        if mode != nil || preamp != nil { player.setLoudness(mode, preamp: preamp, by: by) }
        loudness?.setSource(configuration.loudnessSource)
        mounts?.setRoots(settings.mediaRoots)
        player.setLanding(onAdvertisements: configuration.landsOnAdvertisements)
        table.configurationChanged(by: by)
        player.outputDelays.configure(configuration.outputDelays)
        player.outputDelaysChanged(by: by)
    }

    /// A state of the player was published.
    func follow(_ state: NowPlayingState) {
        rest.follow(state)
        artwork?.follow(state)
    }

    /// Takes up where an earlier run stood, and begins to keep what happens. After `deaths` it rests: it comes up paused, opens
    /// no media and searches no pictures until a client plays or goes to another item.
    func restore(_ found: StateStore.Found, _ policy: ResumePolicy, _ deaths: EarlyDeaths) {
        table.restoreLasting(found.commands)
        if !found.delays.isEmpty { player.outputDelays.restore(found.delays) }
        if !found.skews.isEmpty { player.deviceSkews.restore(found.skews) }
        if found.position != nil || !found.queue.isEmpty {
            let rests = deaths.isPoisoned
            if rests { rest.begin(after: deaths) }
            player.restore(
                found.queue, found.position ?? SavedPosition(), rests && policy == .playing ? .paused : policy,
                fault: rests ? deaths.words : nil)
            if rests {
                if let item = player.state.item {
                    Log.warning(
                        "\(deaths.words); the item is \(item.uri)",
                        LogFields(.restAfterCrashes, session: player.state.session, item: item.uri))
                }
                rest.restored()
            }
        }
        guard let store else { return }
        store.begin { [unowned player] in player.queue }
        store.observe(deaths.observer())
        player.deviceSkews.observe { [unowned store] in store.keep(skews: $0) }
        player.keepPosition(with: store)
    }

    /// Stops the sound and saves the position at the end of the daemon.
    func finish() {
        sound.endFade()
        store?.finish(player.savedPosition)
        player.shutDown()
    }

    /// Ends it for good: nothing of it is kept. `gone` is called when nothing of it is written any more.
    func abandon(_ gone: @escaping @PlayerLoop () -> Void) {
        sound.endFade()
        player.shutDown()
        if let store { store.abandon(gone) } else { gone() }
    }

    // MARK: The end of an idle daemon (idle-exit)

    /// True while the daemon must not end: it plays, or something of the player is under way.
    var isAtWork: Bool {
        switch player.state.state {
        case .playing, .stalled, .interrupted: true
        case .paused, .stopped: sound.isFading || player.state.sleep != nil || player.isAnnouncing
        }
    }

    /// An output that a client chose is kept by nobody, nor is an open file that one handed over. Looks at every entry.
    var wouldLose: Bool {
        outputs.hasChosen || player.queue.entries.contains { Self.isHandedOver($0.source) }
    }

    private static func isHandedOver(_ source: MediaSource) -> Bool {
        switch source {
        case .descriptor: true
        case .segment(let segment): isHandedOver(segment.audio)
        case .plain, .confined, .remote, .handedOver: false
        }
    }
}
