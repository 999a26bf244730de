/// Size of the queue at the server and of its requests, in frames.
///
/// The server's limit is 4 MiB a stream. The device may take ahead the part of the queue that is left after two refills
/// (protocol-native.c, `fix_playback_buffer_attr`). That part must stay long, or the server itself wakes all the time.
package struct StreamBuffering: Equatable, Sendable {
    /// Length of the whole queue: 8 s, or 4 MiB.
    package var target: Int64
    /// Maximum that the device takes ahead: 2 s, or half of the queue.
    package var deviceLatency: Int64
    /// Minimum of a request: half of the rest.
    package var refill: Int64
    /// Minimum before sound begins: 250 ms. Never 0: with 0 the position advances in silence.
    package var prebuffer: Int64

    /// The requested lengths for a format. For a live source the device takes a quarter of a second: more has no
    /// advantage, and the queue would run dry.
    package init(_ format: AudioFormat, isLive: Bool = false) {
        let rate = Int64(format.sampleRate)
        target = min(8 * rate, Int64((4 << 20) / format.bytesPerFrame))
        deviceLatency = min(isLive ? rate / 4 : 2 * rate, target / 2)
        refill = max(1, (target - deviceLatency) / 2)
        prebuffer = max(1, min(rate / 4, target / 4))
    }
}
