import ChildDecoding
import Glibc
import NowPlaying

/// Collects frames into pieces and sends them. The pieces are as large as possible, because each may wake the daemon,
/// but the frames of a live source are sent before playback needs them.
final class AudioSender {
    /// Bytes of the first piece after the beginning or a jump, which the daemon awaits, and maximum bytes of any other
    /// piece.
    private static let firstBytes = 64 << 10
    private static let mostBytes = 256 << 10
    /// Maximum and minimum seconds of a piece of a live stream; the minimum at first, and once sound has begun.
    private static let mostSeconds = 2.0
    private static let leastSeconds = (0.02, 0.1)
    /// Minimum seconds that the daemon has queued when a live stream plays, as it waits for them.
    private static let waitedFor = 0.3
    /// Maximum seconds for which frames of a slow file are held.
    private static let heldSeconds = 0.25

    private let channel: DaemonChannel
    private let isLive: Bool
    private let frameBytes: Int
    private let rate: Double
    private var piece: [UInt8] = []
    private var wantedBytes = firstBytes
    /// Time at which the first held frames came, in seconds.
    private var heldSince = 0.0
    /// Time at which the first frames of a live stream were sent, in seconds, and the frames sent since.
    private var began: Double?
    private var sent: Int64 = 0

    /// Sends frames of this source.
    init(_ channel: DaemonChannel, _ opened: OpenedMedia) {
        self.channel = channel
        isLive = opened.isLive
        frameBytes = opened.format.bytesPerFrame
        rate = Double(opened.format.sampleRate)
        piece.reserveCapacity(Self.mostBytes)
    }

    /// Adds frames, and sends the held frames if they are due.
    func add(_ frames: UnsafeRawBufferPointer) {
        if piece.isEmpty { heldSince = MonotonicTime.now.seconds }
        piece += frames
        if isLive
            ? seconds(piece.count) >= Self.mostSeconds || isDue(MonotonicTime.now.seconds) : piece.count >= wantedBytes
        {
            flush()
        }
    }

    /// Sends the held frames.
    func flush() {
        guard !piece.isEmpty else { return }
        let now = MonotonicTime.now.seconds
        let before = began.map { $0 + Double(sent) / rate - now }
        // After a gap the time counts from now: the frames of the gap were not available.
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

    /// Drops the held frames, for a jump.
    func drop() {
        piece.removeAll(keepingCapacity: true)
        wantedBytes = Self.firstBytes
    }

    // MARK: Waiting for the source

    /// Sends the held frames if they are due.
    func flushIfDue() {
        if !piece.isEmpty, isDue(MonotonicTime.now.seconds) { flush() }
    }

    /// Seconds for which a live stream needs no data from its source.
    var patience: Double {
        guard isLive, sent > 0 else { return 0 }
        // The sender collects a third of the audio ahead, and leaves two thirds.
        return max(0, (lead(MonotonicTime.now.seconds) + held) / 3 - held)
    }

    /// Seconds until the held frames are due; nil: none are held.
    var delay: Double? {
        guard !piece.isEmpty else { return nil }
        let now = MonotonicTime.now.seconds
        return max(0, isLive ? max(lead(now) - 2 * held, leastSeconds - held) : heldSince + Self.heldSeconds - now)
    }

    /// Seconds of all audio that was sent or is held.
    var taken: Double { Double(sent) / rate + held }

    private var held: Double { seconds(piece.count) }
    private var leastSeconds: Double {
        Double(sent) < rate / 2 ? Self.leastSeconds.0 : Self.leastSeconds.1
    }

    private func seconds(_ bytes: Int) -> Double { Double(bytes / frameBytes) / rate }

    /// True if the held audio is due: it is a third of the audio ahead of the listener, itself included.
    private func isDue(_ now: Double) -> Bool {
        guard isLive else { return sent == 0 || now - heldSince >= Self.heldSeconds }
        return held >= leastSeconds && 2 * held >= lead(now)
    }

    /// Seconds of a live stream that were sent ahead of the listener.
    private func lead(_ now: Double) -> Double {
        guard let began else { return 0 }
        let spare = Double(sent) < rate / 2 ? 0 : Self.waitedFor
        return max(0, began + Double(sent) / rate - now) + spare
    }
}
