import AudioCore
package import LinuxSystem

/// Plays to no device, at the pace of one: for machines without sound, and for tests.
///
/// Its clock is CLOCK_MONOTONIC. It takes no frame before the frame is audible, so its latency is 0 and all frames can
/// be rewritten. It wakes once per refill while playing, and not at all otherwise. The volume has no effect.
@PlayerLoop package final class NullOutput: SimulatedOutput<NullStream> {
    /// An output on this loop.
    package init(_ loop: EventLoop) {
        super.init(loop, OutputDevice(name: "null", description: "No sound", state: .running, isDefault: true))
    }

    override func makeStream(
        _ format: AudioFormat, isLive: Bool, isAnnouncement: Bool, _ delegate: any AudioStreamDelegate
    ) -> NullStream? { NullStream(loop, format, isLive: isLive, delegate) }
}
