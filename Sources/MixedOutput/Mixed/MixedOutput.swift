import AudioCore
import CLibraryNames
package import LinuxSystem
package import NowPlaying

/// An output whose streams this process mixes to one fixed format. Several outputs share a mixer: one for each session.
///
/// A stream of the device's own format with a volume of 1 passes bit for bit while it plays alone.
@PlayerLoop package final class MixedOutput: SimulatedOutput<MixedStream> {
    let mixer: Mixer
    override var presentDevice: OutputDevice { mixer.device }
    /// Instant at which the last frame of closed streams is audible; nil: there were none.
    private var closedEnd: MonotonicTime?
    package override var committedUntil: MonotonicTime? {
        ([closedEnd] + streams.filter { !$0.isAnnouncement }.map(\.lastHeard)).compactMap { $0 }.max()
    }

    /// An output of this mixer, not connected yet.
    package init(_ loop: EventLoop, _ mixer: Mixer) {
        self.mixer = mixer
        super.init(loop, mixer.device)
    }

    override func reach() { mixer.join(self) }

    package override func disconnect() {
        super.disconnect()
        mixer.leave(self)
    }

    override func makeStream(
        _ format: AudioFormat, isLive: Bool, isAnnouncement: Bool, _ delegate: any AudioStreamDelegate
    ) -> MixedStream? {
        MixedStream(self, loop, format, isLive: isLive, isAnnouncement: isAnnouncement, delegate)
    }

    override func refusal(of format: AudioFormat) -> OutputError {
        OutputError(
            .refused,
            "\(format.sampleRate) Hz can't be played at \(mixer.format.sampleRate) Hz without libsoxr; "
                + "install the package \(LIBRARY_SOXR_PACKAGE)")
    }

    override func take(_ stream: MixedStream) {
        super.take(stream)
        mixer.add(stream)
    }

    override func forget(_ stream: MixedStream) {
        if !stream.isAnnouncement { closedEnd = [closedEnd, stream.lastHeard].compactMap { $0 }.max() }
        super.forget(stream)
        mixer.remove(stream)
    }

    /// Reports that the device is gone, or was not reached.
    func failed(_ error: OutputError) {
        lose()
        delegate?.outputConnectionChanged(error)
    }

    override func lose() {
        let lost = streams
        closedEnd = nil
        super.lose()
        for stream in lost { mixer.remove(stream) }
    }
}
