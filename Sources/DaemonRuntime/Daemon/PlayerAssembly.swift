import ArtworkLookup
import AudioCore
import AudioDecoders
import ControlProtocol
import DaemonConfiguration
import Glibc
package import LinuxSystem
import MediaAccess
import MixedOutput
import NowPlaying
import PlaybackEngine
import PulseOutput
package import Sessions
package import StateKeeping

/// Assembles players from the configuration.
@PlayerLoop package final class PlayerAssembly: PlayerMaker {
    private let context: SessionContext
    private let events = EventCounter()
    private let delays = OutputDelays()
    private let skews = DeviceSkews()
    private let database: FeedbackDatabase
    private let desk: FeedbackDesk
    private let mounts: MediaMounts
    private let loudness: LoudnessLook
    private let opener: DecoderOpener
    /// Reads the titles of queued items; nil: it is disabled, or its program is missing.
    private let titles: TitleDesk?
    /// Mixer that all sessions share; nil: the output needs none.
    private var mixer: Mixer?

    private init(_ context: SessionContext) {
        self.context = context
        database = FeedbackDatabase(stateDirectory: context.stateDirectory)
        desk = FeedbackDesk(context.loop, database, context.server, log: { Log.warning($0) })
        let mounts = MediaMounts(stateDirectory: context.stateDirectory, roots: context.settings.mediaRoots)
        let certificates = context.configuration.certificates
        self.mounts = mounts
        loudness = LoudnessLook(
            stateDirectory: context.stateDirectory, source: context.configuration.loudnessSource)
        titles =
            context.configuration.readsTitles && FactsChild.path != nil
            ? TitleDesk(context.loop, mounts) { Log.warning($0) } : nil
        opener = { source, abandoned throws(DecodingError) in
            try Self.openDecoder(source, abandoned, certificates: certificates, mounts)
        }
    }

    /// The sessions behind the methods of the control protocol. It starts to read those of an earlier run.
    package static func makeHandler(_ context: SessionContext) -> any MethodHandler {
        let maker = PlayerAssembly(context)
        let table = SessionTable(context, maker.events, maker, opener: maker.opener)
        table.restore()
        return table
    }

    package func makeMethods(
        session: String, store: StateStore?, listener: any StateListener
    ) -> PlayerMethods {
        let configuration = context.configuration
        let output = makeOutput(configuration)
        let latency = Self.latency(configuration)
        var parts = PlayerParts(
            output: output, openDecoder: opener,
            ringCapacity: { Self.ringCapacity($0, latency: latency) },
            failureLimit: configuration.failuresBeforeStop,
            loudness: LoudnessSettings(mode: configuration.loudness, preamp: configuration.loudnessPreamp),
            rates: RateRules(rate: configuration.speech.rate) { (format, rate) throws(DecodingError) in
                try SonicRateChanger(format, rate: rate)
            },
            knowledge: SourceKnowledge(
                resumePosition: { [database] source in
                    database.positions.position(at: source.uri) { ContentIdentity.of(source) }?.seconds
                },
                chapters: SheetBeside.chapters,
                loudness: { [loudness] in loudness.loudness(of: $0, tags: $1) }),
            isSpoken: { [settings = context.settings] in settings.current.isSpoken($0, $1) }, session: session,
            events: events, instance: context.instance,
            onOutputLost: configuration.onOutputLost, delays: delays, skews: skews,
            watchServer: watcher(configuration),
            watchMedia: Self.mediaWatcher(context.loop))
        parts.desk = titles
        parts.watchNetwork = { [loop = context.loop] handler in NetworkWatch(loop, handler) }
        let player = Player(context.loop, parts)
        player.listen { listeners in
            listeners.onItemFailure = { uri, message in
                Log.warning(
                    "cannot play \(uri): \(message)",
                    LogFields(.itemFailed, session: session, cause: .error, item: uri),
                    oncePerMinute: "\(uri) \(message)", now: EventLoop.now)
            }
            listeners.onMediaAway = { uri, message in
                Log.warning(
                    "waiting for \(uri): \(message)",
                    LogFields(.mediaAway, session: session, cause: .stall, item: uri),
                    oncePerMinute: "\(uri) \(message)", now: EventLoop.now)
            }
            listeners.onStreamLost = { uri, message in
                Log.warning(
                    "retrying \(uri): \(message)",
                    LogFields(.streamLost, session: session, cause: .stall, item: uri),
                    oncePerMinute: uri, now: EventLoop.now)
            }
            listeners.onPublish = { [unowned listener] in listener.published($0) }
        }
        return PlayerMethods(
            context.loop, player: player, output: output, opener: opener, mounts: mounts, loudness: loudness,
            encoder: context.board.encoder, settings: context.settings, store: store,
            artwork: ArtworkKeeper.make(context, player),
            feedback: FeedbackKeeper(player, context.loop, desk, context.settings),
            log: { Log.warning($0) })
    }

    /// The output of the configuration, not connected yet.
    private func makeOutput(_ configuration: Configuration) -> any AudioOutput {
        let loop = context.loop
        switch configuration.output {
        case .pulse:
            PulseEnvironment.prepare()
            return PulseOutput(
                loop, sinkName: configuration.sink, interrupters: configuration.interruptedBy)
        case .null: return NullOutput(loop)
        case .file(let path): return FileOutput(loop, path: path)
        case .mixedFile(let path, let format): return mixed { FileSink(loop, path: path, format) }
        case .standardOutput(let format): return mixed { PipeSink(loop, path: "/dev/stdout", format) }
        case .pipe(let path, let format): return mixed { PipeSink(loop, path: path, format) }
        case .snapcast(let address, let format):
            return mixed { SnapcastSink(loop, address, format, configuration.snapcast) }
        }
    }

    /// An output of the mixer that all sessions share. `sink` makes the mixer's sink, for the first output only.
    private func mixed(_ sink: () -> any MixSink) -> any AudioOutput {
        let shared = mixer ?? Mixer(context.loop, sink())
        mixer = shared
        return MixedOutput(context.loop, shared)
    }

    private nonisolated static func openDecoder(
        _ source: MediaSource, _ abandoned: AbandonFlag, certificates: String?, _ mounts: MediaMounts
    ) throws(DecodingError) -> any AudioDecoder {
        switch source {
        case .plain(let packed):
            let path = packed.path
            return try onItsMount(path, mounts) { () throws(DecodingError) in
                try DecoderRegistry.openDecoder(pathBytes: path.bytes, shouldStop: { abandoned.step() })
            }
        case .confined(let position):
            return try onItsMount(position.path, mounts) { () throws(DecodingError) in
                let opened = position.openFile()
                guard opened != -EINVAL else { throw DecodingError(.unavailable, "it is not a regular file") }
                guard opened >= 0 else { throw MediaFile.openingError(-opened) }
                return try DecoderRegistry.openDecoder(descriptor: opened, shouldStop: { abandoned.step() })
            }
        case .remote(let media):
            if let kept = media.takeKept() { return kept }
            return try ChildDecoder(
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
    private nonisolated static func onItsMount(
        _ path: FilePath, _ mounts: MediaMounts, _ open: () throws(DecodingError) -> any AudioDecoder
    ) throws(DecodingError) -> any AudioDecoder {
        let decoder: any AudioDecoder
        do throws(DecodingError) { decoder = try open() } catch {
            guard error.kind == .unavailable, let absence = mounts.absence(of: path) else { throw error }
            // A wait for a present file would never end.
            var status = stat()
            guard path.withCString({ stat($0, &status) }) == 0 else { throw absence }
            return try open()
        }
        mounts.opened(path)
        return decoder
    }

    /// Seconds from a mixed frame to its sound, at most: without a configured buffer, a Snapcast server may report
    /// less.
    private static func latency(_ configuration: Configuration) -> Double {
        guard case .snapcast = configuration.output else { return 0 }
        return SnapcastSink.lead + (configuration.snapcast.buffer ?? 3)
    }

    /// Capacity in frames for the audio between us and the listener, with a reserve: the server's next request is
    /// decoded when it comes, while the server still holds seconds of sound. `latency`: seconds that an output without
    /// a sound server holds.
    private nonisolated static func ringCapacity(_ format: AudioFormat, latency: Double) -> Int64 {
        let buffering = StreamBuffering(format)
        return buffering.target + max(buffering.deviceLatency, format.frames(seconds: latency)) + buffering.spare
    }

    private func watcher(_ configuration: Configuration) -> (@escaping @PlayerLoop () -> Void) -> AnyObject? {
        if let mixer { return { handler in mixer.watch(handler) } }
        guard configuration.output == .pulse else { return { _ in nil } }
        let loop = context.loop
        return { handler in Watching(ServerWatch(loop), handler) }
    }

    private static func mediaWatcher(
        _ loop: EventLoop
    ) -> (MediaSource, Bool, @escaping @PlayerLoop () -> Void) -> AnyObject? {
        var workers: Workers?
        return { source, reportsExisting, handler in
            let used = workers ?? Workers(loop, name: "away")
            workers = used
            return MediaWatch(loop, used, source.path, reportsExisting: reportsExisting, handler)
        }
    }

    /// Watches the servers while the object lives.
    @PlayerLoop private final class Watching {
        private let watch: ServerWatch

        init(_ watch: ServerWatch, _ handler: @escaping @PlayerLoop () -> Void) {
            self.watch = watch
            watch.start(handler)
        }

        isolated deinit { watch.stop() }
    }
}
