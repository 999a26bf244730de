import AudioCore
package import LinuxSystem

/// Plays into nothing, at the pace of a device: for machines without sound, and for tests.
///
/// Its clock is CLOCK_MONOTONIC. It takes nothing before it is audible, so its latency is 0 and everything can be
/// rewritten. It wakes once per refill while playing, never else. There is nothing that volume could be applied to.
@PlayerLoop package final class NullOutput: SimulatedOutput<NullStream> {
    /// An output on this loop.
    package init(_ loop: EventLoop) {
        super.init(loop, OutputDevice(name: "null", description: "No sound", state: .running, isDefault: true))
    }

    override func makeStream(
        _ format: AudioFormat, isLive: Bool, isAnnouncement: Bool, _ delegate: any AudioStreamDelegate
    ) -> NullStream? { NullStream(loop, format, isLive: isLive, delegate) }
}
