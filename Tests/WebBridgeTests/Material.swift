import NowPlaying
import TestSupport

extension TemporaryFolder {
    /// Makes a file of a tenth of a second of silence, 44.1 kHz stereo, and returns its path.
    func silence(_ name: String) -> String {
        let samples = [Int32](repeating: 0, count: 2 * 4410)
        return write(AudioMaterial(sampleRate: 44_100, channels: 2, bits: 16, samples: samples).wave(), name)
    }
}

/// An instant, and the time since.
struct EventInstant {
    private let start: MonotonicTime

    /// The present instant.
    static var now: EventInstant { EventInstant(start: .now) }

    /// Seconds since then.
    var seconds: Double { Double(MonotonicTime.now.nanoseconds - start.nanoseconds) / 1e9 }
}
