package import AudioCore

/// How much is queued at the server and how often it asks for more, in frames.
///
/// The server's limit is 4 MiB a stream; what is left of the queue after two refills is what the device may take ahead
/// (protocol-native.c, `fix_playback_buffer_attr`), and that must stay long or the server itself wakes all the time.
package struct StreamBuffering: Equatable, Sendable {
    /// Length of the whole queue: 8 s, or what 4 MiB hold; a second less where frames are wide.
    package var target: Int64
    /// What the device may take ahead: 2 s, or half of the queue. Of wide frames (floats, more than 16 bit, more than two
    /// channels) one second, which saves two of ten that we keep in memory; the refills, which wake us, stay as long.
    package var deviceLatency: Int64
    /// Least amount asked for at once: half of the rest.
    package var refill: Int64
    /// What must be there before sound begins: 250 ms. Never 0: with 0 the position runs on in silence.
    var prebuffer: Int64

    /// The lengths that we wish for a format. Of what is live the device takes a quarter of a second: it has nothing to gain
    /// from more, and would run dry.
    package init(_ format: AudioFormat, isLive: Bool = false) {
        let rate = Int64(format.sampleRate)
        let ahead = format.bytesPerFrame > Self.narrowFrame ? rate : 2 * rate
        target = min(6 * rate + ahead, Int64((4 << 20) / format.bytesPerFrame))
        deviceLatency = min(isLive ? rate / 4 : ahead, target / 2)
        refill = max(1, (target - deviceLatency) / 2)
        prebuffer = max(1, min(rate / 4, target / 4))
    }

    /// Bytes of a frame of stereo with 16 bit.
    private static let narrowFrame = 4
}
