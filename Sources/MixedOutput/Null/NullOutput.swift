package import AudioCore
package import LinuxSystem

/// Plays into nothing, at the pace of a device: for machines without sound, and for tests.
///
/// Its clock is CLOCK_MONOTONIC. It takes nothing before it is audible, so its latency is 0 and everything can be
/// rewritten. It wakes once per refill while playing, never else. There is nothing that volume could be applied to.
@PlayerLoop package final class NullOutput: AudioOutput {
    package weak var delegate: (any AudioOutputDelegate)?
    private(set) package var isConnected = false
    private let loop: EventLoop
    private var streams: [NullStream] = []
    private(set) package var isConnecting = false
    private(set) package var isVolumeNeutral = true
    package let mixesStreams = true

    /// An output on this loop.
    package init(_ loop: EventLoop) { self.loop = loop }

    private static let onlyDevice = OutputDevice(
        name: "null", description: "No sound", state: .running, isDefault: true)

    package var device: OutputDevice? { isConnected ? Self.onlyDevice : nil }

    package func connect() {
        guard !isConnected, !isConnecting else { return }
        isConnecting = true
        loop.later { [self] in
            guard isConnecting else { return }
            isConnecting = false
            isConnected = true
            delegate?.outputConnectionChanged(nil)
            delegate?.outputDeviceChanged(device, nil)
        }
    }

    package func disconnect() {
        isConnecting = false
        isConnected = false
        for stream in streams { stream.end() }
        streams = []
    }

    /// Opens a stream, as `AudioOutput` has it.
    package func openStream(
        _ format: AudioFormat, isLive: Bool, delegate: any AudioStreamDelegate
    ) -> any AudioStream {
        let stream = NullStream(loop, format, isLive: isLive, delegate)
        stream.onClose = { [weak self] stream in self?.streams.removeAll { $0 === stream } }
        if isConnected {
            streams.append(stream)
            stream.begin()
        } else {
            stream.notify { $0.streamFailed(stream, .disconnected) }
        }
        return stream
    }

    package func openAnnouncement(_ format: AudioFormat, delegate: any AudioStreamDelegate) -> (any AudioStream)? {
        openStream(format, isLive: false, delegate: delegate)
    }

    package func setVolume(_ volume: Double, muted: Bool) { isVolumeNeutral = volume == 1 && !muted }

    package func listDevices(_ completion: @escaping @PlayerLoop (Result<[ListedOutput], OutputError>) -> Void) {
        loop.later { completion(.success([ListedOutput(Self.onlyDevice)])) }
    }

    package func selectDevice(named name: String?) {}
}
