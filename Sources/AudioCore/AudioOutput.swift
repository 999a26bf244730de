package import LinuxSystem
package import NowPlaying

/// A device, or a server of devices, that audio is played on. All of it belongs to the player's loop; nothing here blocks.
///
/// An output is connected only on demand: `connect` begins to, and `connectionChanged` reports the result. It
/// retries nothing by itself.
@PlayerLoop package protocol AudioOutput: AnyObject {
    /// Hears of connection, devices and volume; set before `connect`.
    var delegate: (any AudioOutputDelegate)? { get set }
    /// True if streams can be opened right now.
    var isConnected: Bool { get }
    /// True during a connection attempt; that to a hanging server is reported as failed, but continues and may succeed.
    var isConnecting: Bool { get }
    /// When the oldest of the questions was asked that wait for the server's answer; nil: none does.
    var oldestQuestion: MonotonicTime? { get }
    /// The device in use as far as known.
    var device: OutputDevice? { get }
    /// Begins to connect; a no-op while connecting or connected.
    func connect()
    /// Gives up the connection with all its streams, silently: no delegate hears of it. `connect` may follow.
    func disconnect()
    /// Opens a stream, corked and empty; `streamIsReady` or `streamFailed` follows, never during the call.
    /// `isLive`: the source delivers in real time, so the device must not take much of it ahead.
    func openStream(_ format: AudioFormat, isLive: Bool, delegate: any AudioStreamDelegate) -> any AudioStream
    /// True if several streams sound together.
    var mixesStreams: Bool { get }
    /// Instant until which our sound is heard whatever is requested now; nil: unknown, or the output can take it back.
    var committedUntil: MonotonicTime? { get }
    /// Opens a stream for an announcement, which sounds beside the playback and does not affect the reported device and
    /// volume. Nil: this output supports one stream only.
    func openAnnouncement(_ format: AudioFormat, delegate: any AudioStreamDelegate) -> (any AudioStream)?
    /// Sets volume (0…1 on the server's cubic scale) and muting of our streams, now and for those opened later.
    func setVolume(_ volume: Double, muted: Bool)
    /// True if the samples of our streams are multiplied by 1, as far as the output knows.
    var isVolumeNeutral: Bool { get }
    /// Asks for all devices; answers once, with an error in words if there is no server or it does not answer in a second.
    func listDevices(_ completion: @escaping @PlayerLoop (Result<[ListedOutput], OutputError>) -> Void)
    /// Chooses the device for the streams there are and those to come; nil: the server's default.
    func selectDevice(named name: String?)
    /// Waits for this lost device: new streams go there or fail, and its return is reported. Nil: no longer.
    func keepToDevice(named name: String?)
    /// Streams that are opened go to the server's default, whatever was wished for.
    func followDefaultDevice()
    /// Moves our streams back to the device that is kept to.
    func returnToKeptDevice()
    /// True to watch for programs that interrupt us: only while it matters, as each of their changes wakes us.
    var watchesNeighbours: Bool { get set }
    /// Ends the present interruptions, although their programs continue.
    func acceptNeighbours()
}

extension AudioOutput {
    /// Opens a stream for what can be had as far ahead as is wished.
    package func openStream(_ format: AudioFormat, delegate: any AudioStreamDelegate) -> any AudioStream {
        openStream(format, isLive: false, delegate: delegate)
    }
}

/// Why an output can't do what was asked, in words for people.
package struct OutputError: Error, Equatable, Sendable {
    /// Kind of failure, which decides the player's reaction.
    package enum Kind: Sendable {
        /// No server answers at the address.
        case noServer
        /// The server is there but does not answer.
        case serverHung
        /// The device does not exist or went away.
        case noDevice
        /// This stream can't be had: format refused, killed.
        case refused
    }

    package var kind: Kind
    /// The failure, its object and the remedy; no control characters.
    package var message: String

    /// An error of this kind, in these words.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The connection ended.
    package static let disconnected = OutputError(.noServer, "there is no connection to the sound server")
    /// The stream ended.
    package static let closed = OutputError(.refused, "the stream was closed")
}

/// A device as shown to people and to `output.list`.
package struct OutputDevice: Equatable, Sendable {
    /// State as the server reports it.
    package enum State: String, Sendable { case running, idle, suspended }
    /// The server's name for it, by which it is selected.
    package var name: String
    /// Its name for people.
    package var description: String
    package var state: State
    /// True for the server's default device.
    package var isDefault: Bool
    /// The device's own format; nil when not known.
    package var format: AudioFormat?
    /// True for a device that its listener wears or carries: headphones, or Bluetooth.
    package var isWorn: Bool
    /// Bits of an integer sample that come to it unchanged: 16, 24 or 32; nil when not known.
    package var exactBits: Int?
    /// True if it accepts floating point samples unchanged.
    package var takesFloat: Bool
    /// Identity of its clock, by which its skew is remembered; nil: it has none of its own, or a new one each time.
    package var clock: String?
    /// True if the server multiplies all samples for it, because the device has no volume control.
    package var hasSoftwareVolume: Bool
    /// The source of a Snapcast server whose rooms are this device; nil: it is another device.
    package var server: SnapcastAddress?
    /// True for the silent dummy that servers offer without a device (`module-always-sink`).
    package var isDummy: Bool { name == Self.dummyName }
    /// Name of that dummy in PulseAudio and PipeWire.
    package static let dummyName = "auto_null"

    /// Describes a device by its parts.
    package init(
        name: String, description: String, state: State, isDefault: Bool, format: AudioFormat? = nil,
        isWorn: Bool = false, exactBits: Int? = nil, takesFloat: Bool = false, hasSoftwareVolume: Bool = false,
        clock: String? = nil, server: SnapcastAddress? = nil
    ) {
        self.server = server
        self.clock = clock
        self.exactBits = exactBits
        self.takesFloat = takesFloat
        self.hasSoftwareVolume = hasSoftwareVolume
        self.name = name
        self.description = description
        self.state = state
        self.isDefault = isDefault
        self.format = format
        self.isWorn = isWorn
    }
}

/// A device in a list of all, with its volume at this moment.
package struct ListedOutput: Equatable, Sendable {
    package let device: OutputDevice
    /// Volume and muting in mixers; nil: the output has no mixer.
    package let mixer: MixerSetting?

    /// A device of the list, by its parts.
    package init(_ device: OutputDevice, mixer: MixerSetting? = nil) {
        self.device = device
        self.mixer = mixer
    }
}

/// Volume and muting of a device in everybody's mixers.
package struct MixerSetting: Equatable, Sendable {
    /// 0…1 and above, 1 = 100 % as mixers show it.
    package var volume: Double
    package var isMuted: Bool

    /// A setting, by its parts.
    package init(volume: Double, isMuted: Bool) {
        self.volume = volume
        self.isMuted = isMuted
    }
}

/// Hears of an output. Called on the player's loop, never from inside a call of `AudioOutput`.
@PlayerLoop package protocol AudioOutputDelegate: AnyObject {
    /// The connection is there (nil) or failed or was lost; after an error all streams are dead.
    func outputConnectionChanged(_ error: OutputError?)
    /// The device in use changed: another one, or its state. `reason`: why our stream is on another one; nil where it is
    /// not, or was not moved but begun.
    func outputDeviceChanged(_ device: OutputDevice?, _ reason: RouteReason?)
    /// All that was to be heard from an instant on, by the device, is heard so many seconds later: its times are others.
    func outputShifted(by seconds: Double, from time: MonotonicTime)
    /// A device that was kept to (`keepToDevice`) is there again, or after the last one went, any.
    func outputDeviceAppeared()
    /// A program that interrupts us started to play on our device; its name for people.
    func outputInterrupted(by name: String)
    /// The last of those programs has ended or gone.
    func outputInterruptionEnded()
    /// Another program changed the volume or muting of this program's stream.
    func outputVolumeChanged(_ volume: Double, muted: Bool)
}

/// A reading of where a stream is, as true as the server knows.
package struct StreamTiming: Equatable, Sendable {
    /// Instant of the reading.
    package var time: MonotonicTime
    /// Stream frame audible at `time`, fractional. Before the first sound of a run it lies below what was written first
    /// (audio still travels to the loudspeaker), so it may be negative.
    package var audibleFrame: Double
    /// Frames that the server has taken out of the stream's queue so far, counted over the stream's life.
    package var takenFrame: Int64
    /// True while the stream is advancing. False: corked, underrun, suspended, or not begun.
    package var isPlaying: Bool
    /// Seconds between a frame being taken and being audible.
    package var latency: Double
    /// Seconds that this question took.
    package var roundTrip: Double

    /// A reading, by its parts.
    package init(
        time: MonotonicTime, audibleFrame: Double, takenFrame: Int64, isPlaying: Bool, latency: Double,
        roundTrip: Double
    ) {
        self.time = time
        self.audibleFrame = audibleFrame
        self.takenFrame = takenFrame
        self.isPlaying = isPlaying
        self.latency = latency
        self.roundTrip = roundTrip
    }
}

/// One stream to an output: a queue at the server that is filled ahead and may be rewritten until it is audible.
///
/// Frames are counted over the life of the stream, from 0. Commands are carried out in the order of the calls, without
/// waiting for each other. Completions come on the player's loop, exactly once, never during the call; after `close` or a
/// failure the outstanding ones come with an error.
@PlayerLoop package protocol AudioStream: AnyObject {
    var format: AudioFormat { get }
    /// Length of the server's queue that we keep full, in frames.
    var targetFrames: Int64 { get }
    /// Smallest part of it that is requested at once, in frames; it determines the number of wakeups.
    var refillFrames: Int64 { get }
    /// Frames that must be queued before sound begins on its own.
    var prebufferFrames: Int64 { get }
    /// True if the device can return frames that it has not played yet; false: such frames always play.
    var canRewind: Bool { get }
    /// True if frames are consumed at a device's pace. False: as fast as possible, and none while a rewrite is awaited.
    var isPaced: Bool { get }
    /// True if the timing is computed from a known schedule: a difference between two readings is a change of that.
    var isExact: Bool { get }
    /// True if the server works in steps and reports the position of its last step as that of now: readings are lower bounds.
    var isStepped: Bool { get }
    /// Frame before which all frames are heard whatever is requested now; nil: unknown, or the stream can take them back.
    var committedFrame: Double? { get }
    /// Timing of the stream now, if it is known without a request: the stream has no pace, or is exact; else nil.
    var presentTiming: StreamTiming? { get }
    /// Instant at which a frame that the output has taken is heard, by its schedule; nil: there is none.
    func heardTime(of frame: Int64) -> MonotonicTime?
    /// Says that what is queued from somewhere on is wrong and will be rewritten, or that this is done.
    func awaitRewrite(_ isAwaited: Bool)
    /// Requests the missing frames again at the next step that the output takes in any case. False: it takes none.
    func requestAgain() -> Bool
    /// Writes whole frames at stream frame `at` (overwriting what was queued from there on), or after the last ones.
    /// Ownership of the bytes stays with the caller; they are copied.
    func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?)
    /// The same without a copy where that is possible: the bytes must stay where they are as long as `owner` lives, which
    /// is held until they have been sent. What they are by then is sent.
    func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?, keeping owner: AnyObject)
    /// Stops or starts the flow. What is not yet audible stays queued. A start with less than `prebufferFrames` queued
    /// stays silent until there is more, or `drain`.
    func setCorked(_ corked: Bool, _ completion: @escaping @PlayerLoop (OutputError?) -> Void)
    /// Lets the next start wait until this frame of another stream of the output: the first frame is heard with that one, if
    /// it comes early enough. False: the output starts a stream as soon as it can.
    func align(with other: any AudioStream, at frame: Int64) -> Bool
    /// Drops the queue; meant for a corked stream. The next written frame is audible next: read the timing for
    /// its number (`takenFrame`).
    func flush(_ completion: @escaping @PlayerLoop (OutputError?) -> Void)
    /// Announces the end of the frames to the server: the tail plays whatever its length. Never on a corked stream.
    func drain(_ completion: @escaping @PlayerLoop (OutputError?) -> Void)
    /// Reads the timing: asks the server.
    func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void)
    /// Shows this in mixers: one message to the server, so once per audible item.
    func setTitle(_ title: String, artist: String?)
    /// Ends the stream and forgets its delegate.
    func close()
}

/// Hears of a stream. Called on the player's loop, never from inside a call of `AudioStream`.
@PlayerLoop package protocol AudioStreamDelegate: AnyObject {
    /// The stream exists at the server and takes frames.
    func streamIsReady(_ stream: any AudioStream)
    /// The server's queue has space for at least `refillFrames`.
    func streamNeedsFrames(_ stream: any AudioStream)
    /// Sound (re)starts: after uncork, or after an underrun was filled.
    func streamStarted(_ stream: any AudioStream)
    /// The queue at the server ran empty: silence follows within the latency, unless frames come.
    func streamUnderflowed(_ stream: any AudioStream)
    /// The device was suspended (no sound, time stands) or woke.
    func streamSuspended(_ stream: any AudioStream, _ suspended: Bool)
    /// The stream is on another device now, or its buffering changed: read the timing.
    func streamMoved(_ stream: any AudioStream)
    /// The server asks for silence, on behalf of `name` (for people), or (nil) takes that back.
    func streamIsAskedToCork(_ stream: any AudioStream, for name: String?)
    /// The stream is dead; the output may still be connected.
    func streamFailed(_ stream: any AudioStream, _ error: OutputError)
}

extension AudioOutputDelegate {
    package func outputShifted(by seconds: Double, from time: MonotonicTime) {}
}

/// Defaults for an output of one device without other users.
extension AudioOutput {
    package var oldestQuestion: MonotonicTime? { nil }
    package var mixesStreams: Bool { false }
    package var committedUntil: MonotonicTime? { nil }
    package func openAnnouncement(_ format: AudioFormat, delegate: any AudioStreamDelegate) -> (any AudioStream)? {
        nil
    }
    package func keepToDevice(named name: String?) {}
    package func followDefaultDevice() {}
    package func returnToKeptDevice() {}
    package var watchesNeighbours: Bool {
        get { false }
        set {}
    }
    package func acceptNeighbours() {}
}

extension AudioStream {
    package var isPaced: Bool { true }
    package var isExact: Bool { false }
    package var isStepped: Bool { false }
    package var committedFrame: Double? { nil }
    package var presentTiming: StreamTiming? { nil }
    package func heardTime(of frame: Int64) -> MonotonicTime? { nil }
    package func awaitRewrite(_ isAwaited: Bool) {}
    package func requestAgain() -> Bool { false }
    package func align(with other: any AudioStream, at frame: Int64) -> Bool { false }
    package func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?, keeping owner: AnyObject) {
        write(frames, at: frame)
    }
}
