package import AudioCore
package import LinuxSystem

/// A stream that can't be had: it fails in the next turn of the loop, and does nothing.
@PlayerLoop package final class RefusedStream: SimulatedStream, AudioStream {
    package let format: AudioFormat
    package let targetFrames: Int64 = 1
    package let refillFrames: Int64 = 1
    package let prebufferFrames: Int64 = 1
    package let canRewind = false

    /// A stream that fails with this error.
    init(_ loop: EventLoop, _ format: AudioFormat, _ delegate: any AudioStreamDelegate, _ error: OutputError) {
        self.format = format
        super.init(loop, delegate)
        notify { [self] in
            shut()
            $0.streamFailed(self, error)
        }
    }

    package func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?) {}

    package func setCorked(_ corked: Bool, _ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        complete(completion, .closed)
    }

    package func flush(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) { complete(completion, .closed) }

    package func drain(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) { complete(completion, .closed) }

    package func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void) {
        loop.later { completion(.failure(.closed)) }
    }

    package func setTitle(_ title: String, artist: String?) {}

    package func close() { shut() }
}
