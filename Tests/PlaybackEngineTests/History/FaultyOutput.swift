import AudioCore
import LinuxSystem
import NowPlaying

/// Another output with recorded calls, whose server and device can fail.
@PlayerLoop final class FaultyOutput: AudioOutput, AudioOutputDelegate {
    weak var delegate: (any AudioOutputDelegate)?
    private let inner: any AudioOutput
    private let loop: EventLoop
    /// Records a call.
    private let log: @PlayerLoop (String) -> Void
    private var streams: [FaultyStream] = []
    private var opened = 0
    private var isDown = false
    private var isCalling = false
    private var isAway = false
    private var isAsleep = false
    private var name = "speakers"
    private var kept: String?
    private(set) var isVolumeNeutral = true
    /// Clocks of the devices; nil: all run as CLOCK_MONOTONIC does, and have no identity.
    private let clocks: SkewedClocks?
    var watchesNeighbours = false { didSet { log("neighbours \(watchesNeighbours)") } }

    /// `inner`: the output that plays.
    init(
        _ loop: EventLoop, _ inner: any AudioOutput, clocks: SkewedClocks? = nil,
        log: @escaping @PlayerLoop (String) -> Void
    ) {
        self.clocks = clocks
        clocks?.use(name)
        self.loop = loop
        self.inner = inner
        self.log = log
        inner.delegate = self
    }

    var isConnected: Bool { !isDown && inner.isConnected }
    var isConnecting: Bool { isCalling || inner.isConnecting }
    var mixesStreams: Bool { inner.mixesStreams }
    var device: OutputDevice? {
        guard isConnected, !isAway || name != "speakers" else { return nil }
        return OutputDevice(
            name: name, description: name, state: isAsleep ? .suspended : .running, isDefault: true,
            isWorn: name == "headphones", clock: clocks.map { _ in "test|\(name)" })
    }

    func connect() {
        log("connect")
        guard isDown, !isCalling else { return inner.connect() }
        isCalling = true
        loop.later { [self] in
            isCalling = false
            guard isDown else { return inner.connect() }
            delegate?.outputConnectionChanged(OutputError(.noServer, "no server answers"))
        }
    }

    func disconnect() {
        log("disconnect")
        streams = []
        inner.disconnect()
    }

    func openStream(_ format: AudioFormat, isLive: Bool, delegate: any AudioStreamDelegate) -> any AudioStream {
        opened += 1
        let number = opened
        log("stream \(number): open \(format.sampleRate) live \(isLive)")
        let stream = FaultyStream(delegate, clocks) { [unowned self] in log("stream \(number): \($0)") }
        stream.inner = inner.openStream(format, isLive: isLive, delegate: stream)
        streams.append(stream)
        return stream
    }

    func setVolume(_ volume: Double, muted: Bool) {
        log("volume \(volume) \(muted)")
        isVolumeNeutral = volume == 1 && !muted
        inner.setVolume(volume, muted: muted)
    }

    func listDevices(_ completion: @escaping @PlayerLoop (Result<[ListedOutput], OutputError>) -> Void) {
        inner.listDevices(completion)
    }

    func selectDevice(named name: String?) { log("select \(name ?? "-")") }

    func keepToDevice(named name: String?) {
        log("keep to \(name ?? "-")")
        kept = name
    }

    func followDefaultDevice() { log("follow default") }

    func returnToKeptDevice() {
        log("return")
        guard let kept else { return }
        move(to: kept, .deviceBack)
    }

    func acceptNeighbours() { log("accept neighbours") }

    // MARK: Events

    func outputConnectionChanged(_ error: OutputError?) { delegate?.outputConnectionChanged(error) }
    func outputDeviceChanged(_ device: OutputDevice?, _ reason: RouteReason?) {
        delegate?.outputDeviceChanged(self.device, reason)
    }
    func outputDeviceAppeared() {}
    func outputInterrupted(by name: String) {}
    func outputInterruptionEnded() {}
    func outputVolumeChanged(_ volume: Double, muted: Bool) {}

    // MARK: Faults

    private var liveStreams: [FaultyStream] { streams.filter(\.isOpen) }

    /// The server dies.
    func dropServer() {
        guard !isDown else { return }
        isDown = true
        streams = []
        inner.disconnect()
        delegate?.outputConnectionChanged(OutputError(.noServer, "the server went away"))
    }

    /// The server is there again; the player detects that.
    func restoreServer() { isDown = false }

    /// The device disappears with its streams, or the server moves the streams to another one.
    func loseDevice(moves: Bool) {
        guard isConnected, !isAway else { return }
        isAway = true
        if moves {
            move(to: "headphones", .deviceGone)
        } else {
            for stream in liveStreams { stream.fail(OutputError(.noDevice, "the device went away")) }
        }
    }

    /// The device returns.
    func restoreDevice() {
        guard isAway else { return }
        isAway = false
        delegate?.outputDeviceAppeared()
        if kept == nil { move(to: "speakers", .defaultChanged) }
    }

    /// The streams play on another device from now on.
    func move(to other: String, _ reason: RouteReason) {
        guard name != other, isConnected else { return }
        name = other
        clocks?.use(other)
        for stream in liveStreams { stream.delegate?.streamMoved(stream) }
        delegate?.outputDeviceChanged(device, reason)
    }

    /// The device is suspended or resumes.
    func suspend(_ suspended: Bool) {
        guard isAsleep != suspended, isConnected else { return }
        isAsleep = suspended
        for stream in liveStreams { stream.suspend(suspended) }
        delegate?.outputDeviceChanged(device, nil)
    }

    /// The server requests silence on behalf of `name`; nil: no longer.
    func askForSilence(_ name: String?) {
        for stream in liveStreams { stream.delegate?.streamIsAskedToCork(stream, for: name) }
    }

    /// A program interrupts; nil: no longer.
    func interrupt(_ name: String?) {
        if let name { delegate?.outputInterrupted(by: name) } else { delegate?.outputInterruptionEnded() }
    }

    /// A mixer changes the volume.
    func changeVolume(_ volume: Double, muted: Bool) { delegate?.outputVolumeChanged(volume, muted: muted) }

    /// The server refuses the newest stream.
    func refuse() { liveStreams.last?.fail(OutputError(.refused, "its format is refused")) }
}

/// A stream of such an output.
@PlayerLoop final class FaultyStream: AudioStream, AudioStreamDelegate {
    fileprivate(set) var inner: (any AudioStream)!
    fileprivate weak var delegate: (any AudioStreamDelegate)?
    private(set) var isOpen = true
    private let log: @PlayerLoop (String) -> Void
    private var isCorked = true
    private var isAsleep = false
    private let clocks: SkewedClocks?

    init(
        _ delegate: any AudioStreamDelegate, _ clocks: SkewedClocks?, log: @escaping @PlayerLoop (String) -> Void
    ) {
        self.delegate = delegate
        self.clocks = clocks
        self.log = log
    }

    fileprivate func fail(_ error: OutputError) {
        isOpen = false
        inner.close()
        delegate?.streamFailed(self, error)
    }

    /// A suspended device takes nothing.
    fileprivate func suspend(_ suspended: Bool) {
        isAsleep = suspended
        inner.setCorked(suspended || isCorked) { _ in }
        delegate?.streamSuspended(self, suspended)
    }

    var format: AudioFormat { inner.format }
    var targetFrames: Int64 { inner.targetFrames }
    var refillFrames: Int64 { inner.refillFrames }
    var prebufferFrames: Int64 { inner.prebufferFrames }
    var canRewind: Bool { inner.canRewind }
    var isPaced: Bool { inner.isPaced }
    var presentTiming: StreamTiming? { inner.presentTiming }

    func awaitRewrite(_ isAwaited: Bool) {
        log("await rewrite \(isAwaited)")
        inner.awaitRewrite(isAwaited)
    }

    func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?) {
        log("write \(frames.count) at \(frame.map(String.init) ?? "-")")
        inner.write(frames, at: frame)
    }

    func setCorked(_ corked: Bool, _ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        log("cork \(corked)")
        isCorked = corked
        inner.setCorked(corked || isAsleep, completion)
    }

    func flush(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        log("flush")
        inner.flush(completion)
    }

    func drain(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        log("drain")
        inner.drain(completion)
    }

    func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void) {
        log("timing")
        inner.readTiming { [clocks, format] result in
            completion(
                result.map { timing in
                    var timing = timing
                    if let clocks { timing.audibleFrame += clocks.read(at: timing.time) * Double(format.sampleRate) }
                    return timing
                })
        }
    }

    func setTitle(_ title: String, artist: String?) { log("title \(title) \(artist ?? "-")") }

    func close() {
        log("close")
        isOpen = false
        inner.close()
    }

    func streamIsReady(_ stream: any AudioStream) { delegate?.streamIsReady(self) }
    func streamNeedsFrames(_ stream: any AudioStream) { delegate?.streamNeedsFrames(self) }
    func streamStarted(_ stream: any AudioStream) { delegate?.streamStarted(self) }
    func streamUnderflowed(_ stream: any AudioStream) { delegate?.streamUnderflowed(self) }
    func streamSuspended(_ stream: any AudioStream, _ suspended: Bool) {}
    func streamMoved(_ stream: any AudioStream) {}
    func streamIsAskedToCork(_ stream: any AudioStream, for name: String?) {}
    func streamFailed(_ stream: any AudioStream, _ error: OutputError) { delegate?.streamFailed(self, error) }
}
