import AudioCore
package import LinuxSystem

/// A stream that the output cannot provide: it fails in the next turn of the loop, and does nothing.
@PlayerLoop package final class RefusedStream: SimulatedStream {
    package override var canRewind: Bool { false }

    /// A stream that fails with this error.
    init(_ loop: EventLoop, _ format: AudioFormat, _ delegate: any AudioStreamDelegate, _ error: OutputError) {
        super.init(loop, format, StreamQueue(target: 1, refill: 1, prebuffer: 1), delegate)
        fail(error)
    }
}
