import AudioCore
import LinuxSystem
import MixedOutput
import NowPlaying

/// An output of a test that is a null output but for its streams.
@PlayerLoop protocol NullBackedOutput: AudioOutput {
    /// The null output.
    var inner: NullOutput { get }
}

extension NullBackedOutput {
    var delegate: (any AudioOutputDelegate)? {
        get { inner.delegate }
        set { inner.delegate = newValue }
    }
    var isConnected: Bool { inner.isConnected }
    var isConnecting: Bool { inner.isConnecting }
    var device: OutputDevice? { inner.device }
    var isVolumeNeutral: Bool { inner.isVolumeNeutral }
    var mixesStreams: Bool { inner.mixesStreams }

    func connect() { inner.connect() }
    func disconnect() { inner.disconnect() }
    func setVolume(_ volume: Double, muted: Bool) { inner.setVolume(volume, muted: muted) }
    func listDevices(_ completion: @escaping @PlayerLoop (Result<[ListedOutput], OutputError>) -> Void) {
        inner.listDevices(completion)
    }
    func selectDevice(named name: String?) { inner.selectDevice(named: name) }
}
