package import LinuxSystem
package import NowPlaying

/// A device or a server of devices that plays audio. All calls belong to the player's loop; nothing here blocks.
///
/// An output connects only on demand: `connect` begins, and `outputConnectionChanged` reports the result. It does not
/// retry by itself.
@PlayerLoop package protocol AudioOutput: AnyObject {
    /// Receiver of changes of connection, devices and volume; set before `connect`.
    var delegate: (any AudioOutputDelegate)? { get set }
    /// True if streams can be opened now.
    var isConnected: Bool { get }
    /// True during a connection attempt. An attempt at a hanging server is reported as failed, but continues and may
    /// succeed.
    var isConnecting: Bool { get }
    /// Time of the oldest request that the server has not answered; nil: there is none.
    var oldestQuestion: MonotonicTime? { get }
    /// The device in use, if known.
    var device: OutputDevice? { get }
    /// The server's name of the selected device, which later streams use; nil: the server's default.
    var selectedDevice: String? { get }
    /// Begins to connect; a no-op while connecting or connected.
    func connect()
    /// Drops the connection with all its streams; no delegate is called. `connect` may follow.
    func disconnect()
    /// Opens a stream, corked and empty; `streamIsReady` or `streamFailed` follows, never during the call. `isLive`:
    /// the source delivers in real time, so the device must not take much of it ahead.
    func openStream(_ format: AudioFormat, isLive: Bool, delegate: any AudioStreamDelegate) -> any AudioStream
    /// True if several streams can play together.
    var mixesStreams: Bool { get }
    /// Instant until which the output is already fixed: no request can change it. Nil: unknown, or the output can
    /// rewind it.
    var committedUntil: MonotonicTime? { get }
    /// Opens a stream for an announcement, which plays beside the playback and does not affect the reported device and
    /// volume. Nil: this output supports one stream only.
    func openAnnouncement(_ format: AudioFormat, delegate: any AudioStreamDelegate) -> (any AudioStream)?
    /// Sets volume (0…1 on the server's cubic scale) and muting of our present and later streams.
    func setVolume(_ volume: Double, muted: Bool)
    /// True if the samples of our streams are multiplied by 1, to the output's knowledge.
    var isVolumeNeutral: Bool { get }
    /// Requests all devices; the completion runs once, with an error if there is no server or no answer within a
    /// second.
    func listDevices(_ completion: @escaping @PlayerLoop (Result<[ListedOutput], OutputError>) -> Void)
    /// Selects the device for present and later streams; nil: the server's default.
    func selectDevice(named name: String?)
    /// Waits for this lost device: new streams go there or fail, and its return is reported. Nil stops waiting.
    func keepToDevice(named name: String?)
    /// Opens later streams on the server's default device, regardless of an earlier selection.
    func followDefaultDevice()
    /// Moves our streams back to the device of `keepToDevice`.
    func returnToKeptDevice()
    /// True to watch for programs that interrupt us. Set it only while it matters, as each of their changes wakes this
    /// program.
    var watchesNeighbours: Bool { get set }
    /// Ends the present interruptions, although their programs continue.
    func acceptNeighbours()
}

extension AudioOutput {
    /// Opens a stream for a source that can be read as far ahead as wanted.
    package func openStream(_ format: AudioFormat, delegate: any AudioStreamDelegate) -> any AudioStream {
        openStream(format, isLive: false, delegate: delegate)
    }
}

/// Failure of a request to an output, as text for people.
package struct OutputError: Error, Equatable, Sendable {
    /// Kind of failure, which decides the player's reaction.
    package enum Kind: Sendable {
        /// No server answers at the address.
        case noServer
        /// The server accepted the connection, but does not answer.
        case serverHung
        /// The device does not exist or went away.
        case noDevice
        /// The server refused the format, or ended the stream.
        case refused
    }

    package var kind: Kind
    /// Text with the failure, its object and the remedy; no control characters.
    package var message: String

    /// An error of this kind with this text.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The connection ended.
    package static let disconnected = OutputError(.noServer, "there is no connection to the sound server")
    /// The stream ended.
    package static let closed = OutputError(.refused, "the stream was closed")
}

/// A device in the form for people and for `output.list`.
package struct OutputDevice: Equatable, Sendable {
    /// State as the server reports it.
    package enum State: String, Sendable { case running, idle, suspended }
    /// The server's name for it, for selecting it.
    package var name: String
    /// Its name for people.
    package var description: String
    package var state: State
    /// True for the server's default device.
    package var isDefault: Bool
    /// The device's own format; nil: unknown.
    package var format: AudioFormat?
    /// True for a device that its listener wears or carries: headphones, or Bluetooth.
    package var isWorn: Bool
    /// Bits of an integer sample that reach the device unchanged: 16, 24 or 32; nil: unknown.
    package var exactBits: Int?
    /// True if it accepts floating point samples unchanged.
    package var takesFloat: Bool
    /// Identity of its clock, under which the clock's skew is stored; nil: it has no own clock, or a new identity each
    /// time.
    package var clock: String?
    /// True if the server multiplies all samples for it, because the device has no volume control.
    package var hasSoftwareVolume: Bool
    /// The source of a Snapcast server whose rooms are this device; nil: it is another device.
    package var server: SnapcastAddress?
    /// Largest error of positions in seconds if the server has the clock of another machine; nil: not known.
    package var uncertainty: Double?
    /// True for the silent dummy that servers offer without a device (`module-always-sink`).
    package var isDummy: Bool { name == Self.dummyName }
    /// Name of that dummy in PulseAudio and PipeWire.
    package static let dummyName = "auto_null"

    /// Describes a device by its parts.
    package init(
        name: String, description: String, state: State, isDefault: Bool, format: AudioFormat? = nil,
        isWorn: Bool = false, exactBits: Int? = nil, takesFloat: Bool = false, hasSoftwareVolume: Bool = false,
        clock: String? = nil, server: SnapcastAddress? = nil, uncertainty: Double? = nil
    ) {
        self.server = server
        self.clock = clock
        self.uncertainty = uncertainty
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

/// A device in a list of all devices, with its present volume.
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

/// Volume and muting of a device, as all mixers show them.
package struct MixerSetting: Equatable, Sendable {
    /// 0…1 and above; 1 = 100 % in mixers.
    package var volume: Double
    package var isMuted: Bool

    /// A setting, by its parts.
    package init(volume: Double, isMuted: Bool) {
        self.volume = volume
        self.isMuted = isMuted
    }
}

/// Receiver of an output's events. Called on the player's loop, never from inside a call of `AudioOutput`.
@PlayerLoop package protocol AudioOutputDelegate: AnyObject {
    /// The output is connected (nil), or the connection failed or was lost; after an error all streams are dead.
    func outputConnectionChanged(_ error: OutputError?)
    /// The device in use changed: another device, or another state. `reason`: the reason why our stream is on another
    /// device; nil if it was not moved.
    func outputDeviceChanged(_ device: OutputDevice?, _ reason: RouteReason?)
    /// The device plays all sound from `time` on this many seconds later than scheduled, because its times changed.
    func outputShifted(by seconds: Double, from time: MonotonicTime)
    /// A device of `keepToDevice` has returned, or any device has appeared after the last one was lost.
    func outputDeviceAppeared()
    /// A program that interrupts us began to play on our device; its name for people.
    func outputInterrupted(by name: String)
    /// The last interrupting program has stopped or closed.
    func outputInterruptionEnded()
    /// Another program changed the volume or muting of this program's stream.
    func outputVolumeChanged(_ volume: Double, muted: Bool)
}

/// A reading of a stream's position, as exact as the server's data.
package struct StreamTiming: Equatable, Sendable {
    /// Instant of the reading.
    package var time: MonotonicTime
    /// Frame of the stream that is audible at `time`, fractional. Before the first sound of a run it lies below the
    /// first written frame, because audio still travels to the loudspeaker; so it may be negative.
    package var audibleFrame: Double
    /// Frames that the server has taken from the stream's queue, counted over the stream's life.
    package var takenFrame: Int64
    /// True while the stream is advancing. False: corked, underrun, suspended, or not started.
    package var isPlaying: Bool
    /// Seconds from the taking of a frame until it is audible.
    package var latency: Double
    /// Seconds of this request's round trip.
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

/// A stream to an output: a queue at the server that is filled ahead and may be rewritten until it is audible.
///
/// Frames are counted over the life of the stream, from 0. Commands are carried out in the order of the calls, without
/// waiting for each other. Completions run on the player's loop, exactly once, never during the call; after `close` or
/// a failure the outstanding ones get an error.
@PlayerLoop package protocol AudioStream: AnyObject {
    var format: AudioFormat { get }
    /// Target length of the server's queue, in frames.
    var targetFrames: Int64 { get }
    /// Smallest part of it that is requested at once, in frames; it determines the number of wakeups.
    var refillFrames: Int64 { get }
    /// Frames that the server has requested and not got; nil: it does not say so, or its answers are not on our clock.
    var requestedFrames: Int64? { get }
    /// Frames that the device takes ahead at most: it plays so many while the queue is empty. 0: it takes each frame at its
    /// instant.
    var aheadFrames: Int64 { get }
    /// Frames that must be queued before sound begins on its own.
    var prebufferFrames: Int64 { get }
    /// True if the device can return frames that it has not played yet; false: such frames always play.
    var canRewind: Bool { get }
    /// True if a device's pace consumes the frames. False: as fast as possible, and none while a rewrite is pending.
    var isPaced: Bool { get }
    /// True if the timing is computed from a known schedule: a difference between two readings is a change of the
    /// schedule.
    var isExact: Bool { get }
    /// True if the server works in steps and reports the position of its last step as the present one: readings are
    /// lower bounds.
    var isStepped: Bool { get }
    /// Frame before which the output is already fixed: no request can change it. Nil: unknown, or the stream can rewind
    /// it.
    var committedFrame: Double? { get }
    /// Present timing of the stream, if known without a request: the stream has no pace, or is exact; else nil.
    var presentTiming: StreamTiming? { get }
    /// Scheduled instant at which a frame that the output has taken is audible; nil: there is none.
    func heardTime(of frame: Int64) -> MonotonicTime?
    /// True marks queued frames as wrong, to be rewritten; false: the rewrite is complete.
    func awaitRewrite(_ isAwaited: Bool)
    /// Requests the missing frames again at the next step of the output that happens in any case. False: there is none.
    func requestAgain() -> Bool
    /// Writes whole frames at stream frame `at`, over the frames queued from there on, or after the last frame. The
    /// bytes are copied and stay the caller's.
    func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?)
    /// The same without a copy if possible. The bytes must stay in place while `owner` lives; the stream holds it until
    /// they have been sent. The stream sends the bytes as they are at that time.
    func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?, keeping owner: AnyObject)
    /// Stops or starts the flow. Frames that are not yet audible stay queued. A start with less than `prebufferFrames`
    /// queued is silent until there are more, or until `drain`.
    func setCorked(_ corked: Bool, _ completion: @escaping @PlayerLoop (OutputError?) -> Void)
    /// Aligns the next start with another stream of the output: the first frame plays together with that stream's
    /// `frame`, if written early enough. False: the output starts a stream as soon as it can.
    func align(with other: any AudioStream, at frame: Int64) -> Bool
    /// Drops the queue; meant for a corked stream. The next written frame is audible next; the timing (`takenFrame`)
    /// gives its number.
    func flush(_ completion: @escaping @PlayerLoop (OutputError?) -> Void)
    /// Announces the end of the frames to the server: a tail of any length plays. Never on a corked stream.
    func drain(_ completion: @escaping @PlayerLoop (OutputError?) -> Void)
    /// Requests the timing from the server.
    func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void)
    /// Sets the text that mixers show: one message to the server, so call it once per audible item.
    func setTitle(_ title: String, artist: String?)
    /// Ends the stream and drops its delegate.
    func close()
}

/// Receiver of a stream's events. Called on the player's loop, never from inside a call of `AudioStream`.
@PlayerLoop package protocol AudioStreamDelegate: AnyObject {
    /// The stream exists at the server and accepts frames.
    func streamIsReady(_ stream: any AudioStream)
    /// The server's queue has space for at least `refillFrames`.
    func streamNeedsFrames(_ stream: any AudioStream)
    /// Sound starts or restarts: after uncork, or after an underrun was filled.
    func streamStarted(_ stream: any AudioStream)
    /// The queue at the server is empty: silence follows within the latency, unless frames come.
    func streamUnderflowed(_ stream: any AudioStream)
    /// The device was suspended (no sound; the position stands still) or resumed.
    func streamSuspended(_ stream: any AudioStream, _ suspended: Bool)
    /// The stream moved to another device, or its buffering changed: read the timing.
    func streamMoved(_ stream: any AudioStream)
    /// The server requests silence for the program `name` (for people); nil: it withdraws the request.
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
    package var selectedDevice: String? { nil }
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
    package var requestedFrames: Int64? { nil }
    package var aheadFrames: Int64 { 0 }
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
