package import AudioCore
package import LinuxSystem
package import NowPlaying

/// An output of streams that are mixed here, to one fixed format. Several outputs share a mixer: one for each session.
///
/// A stream of the device's own format whose volume is 1 passes bit for bit, as long as it is alone.
@PlayerLoop package final class MixedOutput: AudioOutput {
    package weak var delegate: (any AudioOutputDelegate)?
    private(set) package var isConnected = false
    private(set) package var isConnecting = false
    package let mixesStreams = true
    let mixer: Mixer
    private let loop: EventLoop
    private var streams: [MixedStream] = []
    /// Instant at which the last frame of streams that were closed is heard; nil: there were none.
    private var closedEnd: MonotonicTime?
    package var committedUntil: MonotonicTime? {
        ([closedEnd] + streams.filter { !$0.isAnnouncement }.map(\.lastHeard)).compactMap { $0 }.max()
    }
    /// Factor of the samples.
    private(set) var gain = 1.0
    package var isVolumeNeutral: Bool { gain == 1 }

    /// An output of this mixer, connected to nothing yet.
    package init(_ loop: EventLoop, _ mixer: Mixer) {
        self.loop = loop
        self.mixer = mixer
    }

    package var device: OutputDevice? { isConnected ? mixer.device : nil }

    package func connect() {
        guard !isConnected, !isConnecting else { return }
        isConnecting = true
        mixer.join(self)
    }

    package func disconnect() {
        lose()
        mixer.leave(self)
    }

    /// Opens a stream, as `AudioOutput` has it.
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
        guard
            let stream = MixedStream(
                self, loop, format, isLive: isLive, isAnnouncement: isAnnouncement, delegate)
        else {
            return RefusedStream(
                loop, format, delegate,
                OutputError(
                    .refused,
                    "\(format.sampleRate) Hz can't be played at \(mixer.format.sampleRate) Hz without libsoxr; "
                        + "install the package libsoxr0"))
        }
        if isConnected {
            streams.append(stream)
            mixer.add(stream)
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
        loop.later { [self] in completion(.success([ListedOutput(mixer.device)])) }
    }

    package func selectDevice(named name: String?) {}

    // MARK: For the mixer and the streams

    /// The stream was closed.
    func forget(_ stream: MixedStream) {
        if !stream.isAnnouncement { closedEnd = [closedEnd, stream.lastHeard].compactMap { $0 }.max() }
        streams.removeAll { $0 === stream }
        mixer.remove(stream)
    }

    /// The device is there.
    func connected() {
        guard isConnecting else { return }
        isConnecting = false
        isConnected = true
        delegate?.outputConnectionChanged(nil)
        delegate?.outputDeviceChanged(device, nil)
    }

    /// The device is gone, or was not reached.
    func failed(_ error: OutputError) {
        lose()
        delegate?.outputConnectionChanged(error)
    }

    private func lose() {
        isConnecting = false
        isConnected = false
        closedEnd = nil
        for stream in streams {
            stream.end()
            mixer.remove(stream)
        }
        streams = []
    }
}
