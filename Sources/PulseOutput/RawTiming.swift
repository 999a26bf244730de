import AudioCore
import NowPlaying

/// The server's raw timing report for a stream.
struct RawTiming: Equatable, Sendable {
    /// Bytes that the server has taken out of the stream's queue.
    var readIndex: Int64
    /// Latency of the device in microseconds, as reported.
    var deviceMicroseconds: UInt64
    /// True while the stream is advancing.
    var playing: Bool
    /// Bytes handed to the device since it resumed (playing) or since the queue ran empty (not playing).
    var sinceUnderrun: UInt64

    /// A plausible delay of the device in seconds. The server sometimes reports negative delays as huge ones (PipeWire
    /// before 1.2.7), so a delay of more than 10 s counts as unknown.
    private var deviceSeconds: Double { deviceMicroseconds > 10_000_000 ? 0 : Double(deviceMicroseconds) / 1e6 }

    /// The audible position, by the rules of the server's accounting (protocol-native.c,
    /// `command_get_playback_latency`). Playing: all frames except those in transit in the device have been audible.
    /// Corked: the frames in transit were rewound or have become audible. Underrun: silence follows the frames in
    /// transit.
    func reading(
        _ format: AudioFormat, isCorked: Bool, isSuspended: Bool, time: MonotonicTime, roundTrip: Double
    ) -> StreamTiming {
        let bytesPerFrame = Double(format.bytesPerFrame)
        let taken = Double(readIndex) / bytesPerFrame
        let onTheWay = deviceSeconds * Double(format.sampleRate)
        let audible: Double
        // 2⁶³ and above mean -1: the queue has not run empty since the stream began to flow.
        let ranEmpty = !playing && !isCorked && !isSuspended && sinceUnderrun < 1 << 63
        if playing {
            audible = taken - onTheWay
        } else if ranEmpty {
            audible = taken - max(0, onTheWay - Double(sinceUnderrun) / bytesPerFrame)
        } else {
            audible = taken
        }
        return StreamTiming(
            time: time, audibleFrame: audible, takenFrame: readIndex / Int64(clamping: format.bytesPerFrame),
            isPlaying: playing || (ranEmpty && audible < taken),
            latency: deviceSeconds, roundTrip: roundTrip)
    }
}

/// Knowledge about a device's ability to rewind: first by its driver, then by observation.
struct RewindKnowledge: Equatable, Sendable {
    /// True if it can rewind.
    private(set) var canRewind: Bool
    /// True for PipeWire, which never rewinds: no observation changes `canRewind`.
    let isFixed: Bool
    /// The last reading while playing.
    private var before: StreamTiming?

    /// The assumption by the kind of server, before the device is known.
    init(isPipeWire: Bool) {
        canRewind = !isPipeWire
        isFixed = isPipeWire
    }

    /// Decides by the device's driver: ALSA can rewind; the null sink can unless configured otherwise; pipes, tunnels,
    /// Bluetooth and devices made of devices cannot.
    mutating func setDevice(driver: String, arguments: String) {
        before = nil
        guard !isFixed else { return }
        let name = driver.split(separator: "/").last.map(String.init) ?? driver
        if name.hasPrefix("module-alsa") {
            canRewind = true
        } else if name.hasPrefix("module-null-sink") {
            let refused = arguments.split(separator: " ").contains { argument in
                ["1", "yes", "y", "true", "t", "on"].contains { argument.lowercased() == "norewinds=\($0)" }
            }
            canRewind = !refused
        } else {
            canRewind = false
        }
    }

    /// Drops the last reading: the stream was moved or rewritten, so that the next reading cannot be compared with it.
    mutating func forget() { before = nil }

    /// Learns from a reading. `isCorked`: the stream was corked since the last one, and the server has applied that.
    mutating func observe(_ timing: StreamTiming, isCorked: Bool, sampleRate: Int) {
        guard !isFixed else { return }
        if !isCorked {
            before = timing.isPlaying ? timing : nil
            return
        }
        guard let playing = before else { return }
        before = nil
        if timing.takenFrame < playing.takenFrame {
            canRewind = true
        } else if playing.latency > 0.1 {
            let audible = playing.audibleFrame + timing.time.seconds(since: playing.time) * Double(sampleRate)
            if Double(timing.takenFrame) - audible > 0.1 * Double(sampleRate) { canRewind = false }
        }
    }
}
