package import AudioCore
import LinuxSystem
package import NowPlaying

/// Parts of a player.
package struct PlayerParts {
    package var output: any AudioOutput
    package var openDecoder: DecoderOpener
    /// Capacity of a ring for a format in frames.
    package var ringCapacity: @Sendable (AudioFormat) -> Int64
    /// Number of consecutive items that may fail without an audible sample before play stops.
    package var failureLimit: Int
    /// Creates the decode thread; nil: the system has no more threads.
    var makeDecodeThread: @PlayerLoop (EventLoop, _ deliver: @escaping @PlayerLoop () -> Void) -> DecodeThread?
    /// Loudness until a client sets it.
    package var loudness: LoudnessSettings
    package var rates: RateRules
    package var knowledge: SourceKnowledge
    /// Seed of shuffled orders.
    var shuffleSeed = UInt64.random(in: .min ... .max)
    /// Maximum number of seconds from opening an announcement to its first frames.
    var announcementPatience = 30.0
    /// Returns true for an audiobook or a podcast.
    package var isSpoken: @PlayerLoop (MediaSource, MediaMetadata) -> Bool
    /// Name of the player's session.
    package var session: String
    /// Counter of events.
    package var events: EventCounter
    /// Published identity of this run of the daemon.
    package var instance: String
    /// First number for items of the queue.
    package var firstItemNumber: Int64
    /// Policy for a lost device; nil: the default for the kind of device.
    package var onOutputLost: OutputLostPolicy?
    /// Delays of outputs, those of all sessions.
    var delays: OutputDelays
    /// Skews of devices, those of all sessions.
    var skews: DeviceSkews
    /// Reads the files of the queue; nil: titles are not read.
    package var desk: (any FactsDesk)?
    /// Watches for the start of the sound server and calls back, until the returned object is released.
    package var watchServer: (@escaping @PlayerLoop () -> Void) -> AnyObject?

    /// Watches for changes of this machine's network and calls back, until the returned object is released.
    package var watchNetwork: (@escaping @PlayerLoop () -> Void) -> AnyObject? = { _ in nil }

    /// Watches for the return of a missing source's medium and calls back, until the returned object is released.
    /// `mayBeBack`: also calls back if the medium returned since the source was found missing.
    package var watchMedia: (MediaSource, _ mayBeBack: Bool, @escaping @PlayerLoop () -> Void) -> AnyObject?

    /// The parts, each by its name.
    package init(
        output: any AudioOutput, openDecoder: @escaping DecoderOpener,
        ringCapacity: @escaping @Sendable (AudioFormat) -> Int64, failureLimit: Int = 5,
        loudness: LoudnessSettings = LoudnessSettings(), rates: RateRules = RateRules(),
        knowledge: SourceKnowledge = SourceKnowledge(),
        isSpoken: @escaping @PlayerLoop (MediaSource, MediaMetadata) -> Bool = { _, _ in false },
        session: String = "main",
        events: EventCounter, instance: String,
        firstItemNumber: Int64 = 1, onOutputLost: OutputLostPolicy? = nil,
        delays: OutputDelays = OutputDelays(), skews: DeviceSkews = DeviceSkews(),
        watchServer: @escaping (@escaping @PlayerLoop () -> Void) -> AnyObject? = { _ in nil },
        watchMedia: @escaping (MediaSource, _ mayBeBack: Bool, @escaping @PlayerLoop () -> Void) -> AnyObject? = {
            _, _, _ in nil
        }
    ) {
        self.output = output
        self.openDecoder = openDecoder
        makeDecodeThread = { loop, deliver in
            DecodeThread(
                loop, open: openDecoder, ringCapacity: ringCapacity, rates: rates, knowledge: knowledge,
                deliver: deliver)
        }
        self.ringCapacity = ringCapacity
        self.failureLimit = failureLimit
        self.loudness = loudness
        self.rates = rates
        self.knowledge = knowledge
        self.isSpoken = isSpoken
        self.session = session
        self.events = events
        self.instance = instance
        self.firstItemNumber = firstItemNumber
        self.onOutputLost = onOutputLost
        self.delays = delays
        self.skews = skews
        self.watchServer = watchServer
        self.watchMedia = watchMedia
    }
}
