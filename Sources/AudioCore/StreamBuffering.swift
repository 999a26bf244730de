/// Size of the queue at the server and of its requests, in frames.
///
/// The server's limit is 4 MiB a stream. The device may take ahead the part of the queue that is left after two refills
/// (protocol-native.c, `fix_playback_buffer_attr`). That part must stay long, or the server itself wakes all the time.
///
/// The daemon keeps a copy of all that the server and the device have. Where 8 s are more than 4 MiB, it fills the queue only as
/// far as the longest time between two requests needs. That changes no request, as the server counts the frames that the device
/// has taken.
package struct StreamBuffering: Equatable, Sendable {
    /// Frames to which the queue is filled: 8 s, or as many as last from one request to the next.
    package var target: Int64
    /// Length of the whole queue at the server: 8 s, or 4 MiB; 3.5 MiB if 4 MiB are less than 4 s.
    package var length: Int64
    /// Maximum that the device takes ahead: 2 s, or half of the queue.
    package var deviceLatency: Int64
    /// Minimum of a request: half of the rest.
    package var refill: Int64
    /// Minimum before sound begins: 250 ms. Never 0: with 0 the position advances in silence.
    package var prebuffer: Int64
    /// Frames that are decoded ahead of those that the server and the device have.
    package var spare: Int64

    /// Bytes of the pieces in which the device takes frames, at most.
    private static let pieceBytes: Int64 = 64 << 10

    /// Frames of such a piece. A device takes whole pieces, so up to one more than its latency.
    package static func piece(_ format: AudioFormat) -> Int64 { pieceBytes / Int64(format.bytesPerFrame) }

    /// The requested lengths for a format. For a live source the device takes a quarter of a second: more has no
    /// advantage, and the queue would run dry.
    package init(_ format: AudioFormat, isLive: Bool = false) {
        let rate = Int64(format.sampleRate)
        let bytes = Int64(format.bytesPerFrame)
        let limit = min(8 * rate, (4 << 20) / bytes)
        // At such rates an eighth less costs few requests, and saves half a megabyte.
        length = !isLive && (2 * rate..<4 * rate).contains(limit) ? limit / 8 * 7 : limit
        target = length
        deviceLatency = min(isLive ? rate / 4 : 2 * rate, length / 2)
        refill = max(1, (length - deviceLatency) / 2)
        prebuffer = max(1, min(rate / 4, length / 4))
        spare = rate / 2
        // A queue of less than two seconds has none to spare.
        guard length < 8 * rate, length >= 2 * rate, !isLive else { return }
        let gap = Self.longestGap(request: refill + Self.piece(format), device: deviceLatency)
        target = min(length, gap + rate / 20)
        spare = rate / 5
    }

    /// Frames between two requests, at most, if one comes after `request` frames and the device takes equal parts of up to
    /// `device` frames: it takes the last part to its end.
    private static func longestGap(request: Int64, device: Int64) -> Int64 {
        let parts = (request + device - 1) / device
        return max(parts * device, request + request / parts)
    }
}
