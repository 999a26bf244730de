import ArtworkLookup
import AudioCore
import AudioDecoders
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine
import PulseOutput

/// Puts the player together from what the configuration says.
package enum PlayerAssembly {
    /// Seconds that a ring holds beyond what the server queues and asks for at once.
    private static let spareSeconds = 0.5

    /// The sessions behind the methods of the control protocol; what they publish goes to `context`.
    @PlayerLoop package static func makeHandler(_ context: DaemonContext) -> any MethodHandler {
        let events = EventCounter()
        let deaths = EarlyDeaths(context.loop, stateDirectory: context.stateDirectory)
        let firstItem = ItemNumbers.reserve(stateDirectory: context.stateDirectory)
        let database = FeedbackDatabase(stateDirectory: context.stateDirectory)
        let factory = SessionFactory(
            context, events, database, deaths, firstExternalItem: firstItem + ItemNumbers.block / 2)
        let store = StateStore(context.loop, directory: context.stateDirectory)
        let methods = makeMethods(
            context, makeOutput(context.loop, context.configuration), session: "main", events, firstItem: firstItem,
            store: store, database
        ) { factory.publish($0) }
        let main = LocalSession(
            name: "main", terms: SessionTerms(context.configuration.sessions.mainPolicy), owner: nil, methods: methods)
        methods.onFinish = { deaths.ended() }
        let table = SessionTable(context, events, main: main, factory: factory)
        factory.publish = { [unowned table] state in table.published(state) }
        context.publish(methods.player.state)
        context.holdRequests(true)
        let saved = factory.saved()
        var missing = 1 + saved.count
        let loaded: @PlayerLoop () -> Void = {
            missing -= 1
            guard missing == 0 else { return }
            deaths.restored()
            if let active = saved.first(where: \.isActive) { table.restoreActive(active.name) }
            context.holdRequests(false)
        }
        store.load { found in
            methods.restore(found, context.configuration.resume, deaths)
            loaded()
        }
        for session in saved {
            factory.make(session.name, session.terms, owner: nil, maker: session.maker) { result in
                if case .success(let session) = result { table.add(session) }
                loaded()
            }
        }
        return table
    }

    /// A player of its own on this output, and the methods that act on it; its states go to `publish`.
    @PlayerLoop static func makeMethods(
        _ context: DaemonContext, _ output: any AudioOutput, session: String, _ events: EventCounter, firstItem: Int64,
        store: StateStore?, _ database: FeedbackDatabase, publish: @escaping @PlayerLoop (NowPlayingState) -> Void
    ) -> PlayerMethods {
        let configuration = context.configuration
        let certificates = configuration.certificates
        let mounts = MediaMounts(stateDirectory: context.stateDirectory, roots: MediaRoots(configuration.mediaRoots))
        let opener: DecoderOpener = { source, abandoned throws(DecodingError) in
            try openDecoder(source, abandoned, certificates: certificates, mounts)
        }
        let player = Player(
            context.loop,
            Player.Parts(
                output: output, openDecoder: opener, ringCapacity: ringCapacity,
                failureLimit: configuration.failuresBeforeStop,
                loudness: LoudnessSettings(mode: configuration.loudness, preamp: configuration.loudnessPreamp),
                rates: RateRules(rate: configuration.speech.rate) { (format, rate) throws(DecodingError) in
                    try SonicRateChanger(format, rate: rate)
                },
                knowledge: SourceKnowledge(
                    resumePosition: { source in
                        database.places.place(at: source.uri) { ContentIdentity.of(source) }?.seconds
                    },
                    chapters: SheetBeside.chapters),
                isSpoken: { [context] in context.configuration.isSpoken($0, $1) }, session: session, events: events,
                instance: context.instance,
                firstItemNumber: firstItem, onOutputLost: configuration.onOutputLost,
                watchServer: watcher(context.loop, configuration), watchMedia: mediaWatcher(context.loop)))
        player.onItemFailure = { uri, message in
            Log.warning("cannot play \(uri): \(message)", oncePerMinute: "\(uri) \(message)", now: EventLoop.now)
        }
        player.onMediaAway = { uri, message in
            Log.warning("waiting for \(uri): \(message)", oncePerMinute: "\(uri) \(message)", now: EventLoop.now)
        }
        player.onStreamLost = { uri, message in
            Log.warning("retrying \(uri): \(message)", oncePerMinute: uri, now: EventLoop.now)
        }
        let artwork = makeArtworkKeeper(context, player)
        player.onPublish = { state in
            publish(state)
            artwork.follow(state)
        }
        player.landsOnAdvertisements = configuration.landsOnAdvertisements
        var centre = CommandCentre(
            forwardIntervals: configuration.forwardIntervals, backwardIntervals: configuration.backwardIntervals)
        centre.kinds = configuration.kindIntervals
        return PlayerMethods(
            context.loop, player: player, output: output, opener: opener, mounts: mounts, encoder: context.encoder,
            centre: centre, configuration: configuration, store: store, artwork: artwork,
            feedback: FeedbackKeeper(
                player, context.loop, database, leavesFrom: configuration.resumeFrom, log: { Log.warning($0) }),
            log: { Log.warning($0) })
    }

    /// Looks for the pictures of the items that `subject` plays.
    @PlayerLoop static func makeArtworkKeeper(
        _ context: DaemonContext, _ subject: any ArtworkSubject
    ) -> ArtworkKeeper {
        let configuration = context.configuration
        var rules = ArtworkSearch.Rules(
            names: configuration.artworkNames, placeholder: configuration.artworkPlaceholder)
        rules.isAnimated = configuration.showsAnimatedArtwork
        rules.films = configuration.artworkFilms
        return ArtworkKeeper(
            ArtworkKeeper.Parts(
                subject: subject, loop: context.loop, workers: Workers(context.loop, name: "artwork"), rules: rules,
                cache: context.cacheDirectory.map {
                    ArtworkCache.at(folder: $0 + "/artwork", limit: Int64(configuration.artworkCacheSize) << 20)
                }, certificates: configuration.certificates,
                roots: { [context] in MediaRoots(context.configuration.mediaRoots) },
                log: { Log.warning($0, oncePerMinute: $0, now: EventLoop.now) }))
    }

    /// The output that the configuration names, connected to nothing yet.
    @PlayerLoop static func makeOutput(
        _ loop: EventLoop, _ configuration: Configuration
    ) -> any AudioOutput {
        switch configuration.output {
        case .pulse:
            PulseEnvironment.prepare()
            return PulseOutput(
                loop, sinkName: configuration.sink, interrupters: configuration.interruptedBy)
        case .null: return NullOutput(loop)
        case .file(let path): return FileOutput(loop, path: path)
        }
    }

    private static func openDecoder(
        _ source: MediaSource, _ abandoned: AbandonFlag, certificates: String?, _ mounts: MediaMounts
    ) throws(DecodingError) -> any AudioDecoder {
        switch source {
        case .file(let path):
            return try onItsMount(path, mounts) { () throws(DecodingError) in
                try DecoderRegistry.openDecoder(pathBytes: path.bytes, shouldStop: { abandoned.step() })
            }
        case .confined(let place):
            return try onItsMount(place.path, mounts) { () throws(DecodingError) in
                let opened = place.openFile()
                guard opened != -EINVAL else { throw DecodingError(.unavailable, "it is not a regular file") }
                guard opened >= 0 else { throw MediaFile.openingError(-opened) }
                return try DecoderRegistry.openDecoder(descriptor: opened, shouldStop: { abandoned.step() })
            }
        case .remote(let media):
            if let kept = media.takeKept() { return kept }
            return try ForeignDecoder(
                media, certificates: certificates, userAgent: "\(Product.name)/\(Product.version)")
        case .handedOver:
            throw DecodingError(
                .unavailable,
                "a client passed it as an open file before the daemon's restart; add it again"
            )
        case .descriptor(let descriptor, _):
            if PipedMedia.isPipe(descriptor) {
                let collected = try PipedMedia.collect(descriptor, abandoned)
                return try DecoderRegistry.openDecoder(descriptor: collected, shouldStop: { abandoned.step() })
            }
            let own = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0)
            guard own >= 0 else { throw DecodingError(.unavailable, "the daemon is out of file descriptors") }
            return try DecoderRegistry.openDecoder(descriptor: own, shouldStop: { abandoned.step() })
        case .segment(let segment):
            let audio = try openDecoder(segment.audio, abandoned, certificates: certificates, mounts)
            return try SegmentDecoder(audio, segment)
        }
    }

    /// Opens a file by its path; distinguishes a file on an unmounted disk from a missing one.
    private static func onItsMount(
        _ path: FilePath, _ mounts: MediaMounts, _ open: () throws(DecodingError) -> any AudioDecoder
    ) throws(DecodingError) -> any AudioDecoder {
        let decoder: any AudioDecoder
        do throws(DecodingError) { decoder = try open() } catch {
            guard error.kind == .unavailable, let absence = mounts.absence(of: path) else { throw error }
            // Who waits for a file that is there waits for ever, or not at all.
            var status = stat()
            guard path.withCString({ stat($0, &status) }) == 0 else { throw absence }
            return try open()
        }
        mounts.opened(path)
        return decoder
    }

    /// Capacity for the audio between us and the listener, with some reserve: the server's next request is decoded when it
    /// comes, while it still holds seconds of sound.
    private static func ringCapacity(_ format: AudioFormat) -> Int64 {
        let buffering = StreamBuffering(format)
        return buffering.target + buffering.deviceLatency + format.frames(seconds: spareSeconds)
    }

    @PlayerLoop private static func watcher(
        _ loop: EventLoop, _ configuration: Configuration
    ) -> (@escaping @PlayerLoop () -> Void) -> AnyObject? {
        guard configuration.output == .pulse else { return { _ in nil } }
        return { handler in Watching(ServerWatch(loop), handler) }
    }

    @PlayerLoop private static func mediaWatcher(
        _ loop: EventLoop
    ) -> (MediaSource, Bool, @escaping @PlayerLoop () -> Void) -> AnyObject? {
        var workers: Workers?
        return { source, reportsExisting, handler in
            let used = workers ?? Workers(loop, name: "away")
            workers = used
            return MediaWatch(loop, used, source.path, reportsExisting: reportsExisting, handler)
        }
    }

    /// Watches as long as it lives.
    @PlayerLoop private final class Watching {
        private let watch: ServerWatch

        init(_ watch: ServerWatch, _ handler: @escaping @PlayerLoop () -> Void) {
            self.watch = watch
            watch.start(handler)
        }

        isolated deinit { watch.stop() }
    }
}
