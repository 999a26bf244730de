package import AudioCore
package import LinuxSystem
package import NowPlaying

/// Common part of the outputs without a server: one device, the connection to it, the streams and the volume.
///
/// A subclass makes the streams, and overrides the methods in which its device differs.
@PlayerLoop package class SimulatedOutput<Stream: SimulatedStream>: AudioOutput {
    package weak var delegate: (any AudioOutputDelegate)?
    private(set) package var isConnected = false
    private(set) package var isConnecting = false
    package var mixesStreams: Bool { true }
    package var committedUntil: MonotonicTime? { nil }
    package var isVolumeNeutral: Bool { gain == 1 }

    let loop: EventLoop
    /// Open streams.
    private(set) var streams: [Stream] = []
    /// Factor of the samples.
    private(set) var gain = 1.0
    private let onlyDevice: OutputDevice
    /// The device as it is now.
    var presentDevice: OutputDevice { onlyDevice }

    /// An output to this device, not connected yet.
    init(_ loop: EventLoop, _ device: OutputDevice) {
        self.loop = loop
        onlyDevice = device
    }

    // MARK: For subclasses to override

    /// Makes a stream; nil: the device supports none of this format.
    func makeStream(
        _ format: AudioFormat, isLive: Bool, isAnnouncement: Bool, _ delegate: any AudioStreamDelegate
    ) -> Stream? { nil }
    /// Reason to refuse a stream of this format.
    func refusal(of format: AudioFormat) -> OutputError { .disconnected }
    /// Begins to connect; `connected` follows, never during the call.
    func reach() { loop.later { [self] in connected() } }
    /// Adds a stream, before it begins.
    func take(_ stream: Stream) { streams.append(stream) }
    /// Drops a closed stream.
    func forget(_ stream: Stream) { streams.removeAll { $0 === stream } }
    /// Ends the connection and its streams, without reports.
    func lose() {
        isConnecting = false
        isConnected = false
        for stream in streams { stream.end() }
        streams = []
    }

    /// Completes the connection: the device is available.
    func connected() {
        guard isConnecting else { return }
        isConnecting = false
        isConnected = true
        delegate?.outputConnectionChanged(nil)
        deviceChanged()
    }

    /// Reports the device as it is now.
    func deviceChanged() { delegate?.outputDeviceChanged(device, nil) }

    // MARK: AudioOutput

    package var device: OutputDevice? { isConnected ? presentDevice : nil }

    package func connect() {
        guard !isConnected, !isConnecting else { return }
        isConnecting = true
        reach()
    }

    package func disconnect() { lose() }

    package func openStream(
        _ format: AudioFormat, isLive: Bool, delegate: any AudioStreamDelegate
    ) -> any AudioStream {
        open(format, isLive: isLive, isAnnouncement: false, delegate)
    }

    package func openAnnouncement(_ format: AudioFormat, delegate: any AudioStreamDelegate) -> (any AudioStream)? {
        open(format, isLive: false, isAnnouncement: true, delegate)
    }

    private func open(
        _ format: AudioFormat, isLive: Bool, isAnnouncement: Bool, _ delegate: any AudioStreamDelegate
    ) -> any AudioStream {
        guard let stream = makeStream(format, isLive: isLive, isAnnouncement: isAnnouncement, delegate) else {
            return RefusedStream(loop, format, delegate, refusal(of: format))
        }
        stream.onClose = { [weak self, unowned stream] in self?.forget(stream) }
        if isConnected {
            take(stream)
            stream.begin()
        } else {
            stream.notify { $0.streamFailed(stream, .disconnected) }
        }
        return stream
    }

    package func setVolume(_ volume: Double, muted: Bool) {
        let volume = min(max(volume, 0), 1)
        gain = muted ? 0 : volume * volume * volume
    }

    package func listDevices(_ completion: @escaping @PlayerLoop (Result<[ListedOutput], OutputError>) -> Void) {
        loop.later { [self] in completion(.success([ListedOutput(presentDevice)])) }
    }

    package func selectDevice(named name: String?) {}
}
