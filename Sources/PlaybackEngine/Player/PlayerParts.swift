package import AudioCore
import LinuxSystem
package import NowPlaying

extension Player {
    /// The parts that a player is made of.
    package struct Parts {
        package var output: any AudioOutput
        package var openDecoder: DecoderOpener
        /// Frames that a ring has to hold for a format.
        package var ringCapacity: @Sendable (AudioFormat) -> Int64
        /// Items in a row that may fail without a sample heard before play stops.
        package var failureLimit: Int
        /// Makes the decode thread; nil: the system has no more threads.
        var makeDecodeThread: @PlayerLoop (EventLoop, _ deliver: @escaping @PlayerLoop () -> Void) -> DecodeThread?
        /// Loudness until a client sets it.
        package var loudness: LoudnessSettings
        package var rates: RateRules
        package var knowledge: SourceKnowledge
        /// Seconds from asking for the source of an announcement to its first frames, at most.
        var announcementPatience = 30.0
        /// Answers true for an audiobook or a podcast.
        package var isSpoken: @PlayerLoop (MediaSource, MediaMetadata) -> Bool
        /// Name of the session that it plays in.
        package var session: String
        /// Numbers the events.
        package var events: EventCounter
        /// This run of the daemon, as published.
        package var instance: String
        /// First number for items of the queue.
        package var firstItemNumber: Int64
        /// The reaction when the device goes; nil: the usual one for its kind.
        package var onOutputLost: OutputLostPolicy?
        /// Watches for the sound server coming up and calls back; keeps watching as long as the
        /// returned object lives.
        package var watchServer: (@escaping @PlayerLoop () -> Void) -> AnyObject?

        /// Watches for the medium of a source that is away, and calls back when it may be there again; keeps watching as long
        /// as the returned object lives. `mayBeBack`: it may have come back since it was missed, which counts, too.
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
            self.watchServer = watchServer
            self.watchMedia = watchMedia
        }
    }
}
