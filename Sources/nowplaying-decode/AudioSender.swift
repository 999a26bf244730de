import ChildDecoding
import Glibc
import NowPlaying

/// Collects frames to pieces and sends them: pieces as large as may be, as each may wake the daemon, but none so late that
/// it is missed where the source comes at the pace at which it is heard.
final class AudioSender {
    /// Bytes of the first piece after the beginning or a jump, which the daemon awaits, and of any other at most.
    private static let firstBytes = 64 << 10
    private static let mostBytes = 256 << 10
    /// Seconds of a piece of a live stream, at most, and at least: at first, and when sound has begun.
    private static let mostSeconds = 2.0
    private static let leastSeconds = (0.02, 0.1)
    /// Seconds that the daemon certainly has when a live stream plays, as it waits for them.
    private static let waitedFor = 0.3
    /// Seconds that frames of a file that comes slowly are held at most.
    private static let heldSeconds = 0.25

    private let channel: DaemonChannel
    private let isLive: Bool
    private let frameBytes: Int
    private let rate: Double
    private var piece: [UInt8] = []
    private var wantedBytes = firstBytes
    /// When the frames that are held began to come.
    private var heldSince = 0.0
    /// When the first frames of a live stream were sent, and how many have been since.
    private var began: Double?
    private var sent: Int64 = 0

    /// Sends frames of what was opened.
    init(_ channel: DaemonChannel, _ opened: OpenedMedia) {
        self.channel = channel
        isLive = opened.isLive
        frameBytes = opened.format.bytesPerFrame
        rate = Double(opened.format.sampleRate)
        piece.reserveCapacity(Self.mostBytes)
    }

    /// Takes frames, and sends all that is held if that is enough.
    func add(_ frames: UnsafeRawBufferPointer) {
        if piece.isEmpty { heldSince = MonotonicTime.now.seconds }
        piece += frames
        if isLive
            ? seconds(piece.count) >= Self.mostSeconds || isDue(MonotonicTime.now.seconds) : piece.count >= wantedBytes
        {
            flush()
        }
    }

    /// Sends what is held.
    func flush() {
        guard !piece.isEmpty else { return }
        let now = MonotonicTime.now.seconds
        let before = began.map { $0 + Double(sent) / rate - now }
        // After a gap it is counted from there: so much was not to be had.
        if before ?? -1 < 0 { began = now - Double(sent) / rate }
        sent += Int64(piece.count / frameBytes)
        piece.withUnsafeBytes { bytes in
            let step = WireMessage.maximumAudioBytes / frameBytes * frameBytes
            for start in stride(from: 0, to: bytes.count, by: step) {
                channel.send(.audio, UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + step, bytes.count)]))
            }
        }
        piece.removeAll(keepingCapacity: true)
        wantedBytes = min(2 * wantedBytes, Self.mostBytes)
    }

    /// Forgets what is held, for a jump.
    func drop() {
        piece.removeAll(keepingCapacity: true)
        wantedBytes = Self.firstBytes
    }

    // MARK: Waiting for the source

    /// Sends what is held if it would be late else.
    func flushIfDue() {
        if !piece.isEmpty, isDue(MonotonicTime.now.seconds) { flush() }
    }

    /// Seconds for which nothing need come from the source of a live stream.
    var patience: Double {
        guard isLive, sent > 0 else { return 0 }
        // A third of what is ahead is collected, and two thirds are left then.
        return max(0, (lead(MonotonicTime.now.seconds) + held) / 3 - held)
    }

    /// Seconds until what is held has to be sent; nil: nothing is.
    var delay: Double? {
        guard !piece.isEmpty else { return nil }
        let now = MonotonicTime.now.seconds
        return max(0, isLive ? max(lead(now) - 2 * held, leastSeconds - held) : heldSince + Self.heldSeconds - now)
    }

    /// Seconds of the source that were sent or are held, altogether.
    var taken: Double { Double(sent) / rate + held }

    private var held: Double { seconds(piece.count) }
    private var leastSeconds: Double {
        Double(sent) < rate / 2 ? Self.leastSeconds.0 : Self.leastSeconds.1
    }

    private func seconds(_ bytes: Int) -> Double { Double(bytes / frameBytes) / rate }

    /// True if the held audio should be sent: it is a third of all that is ahead of the listener with it.
    private func isDue(_ now: Double) -> Bool {
        guard isLive else { return sent == 0 || now - heldSince >= Self.heldSeconds }
        return held >= leastSeconds && 2 * held >= lead(now)
    }

    /// Seconds ahead of the listener that were sent, of a live stream.
    private func lead(_ now: Double) -> Double {
        guard let began else { return 0 }
        let spare = Double(sent) < rate / 2 ? 0 : Self.waitedFor
        return max(0, began + Double(sent) / rate - now) + spare
    }
}
