import CLibraryNames
import Glibc
import NowPlaying
import NowPlayingClient

/// A recording from the sound server of this user, with the instant of each frame. The first use opens libpulse-simple, as
/// the program needs no sound server otherwise.
final class PulseRecorder {
    /// The reason for a failed recording, in words.
    struct Problem: Error {
        let message: String
    }

    private struct SampleSpec {
        /// PA_SAMPLE_FLOAT32LE.
        let format: Int32 = 5
        let rate: UInt32
        let channels: UInt8 = 1
    }

    private struct BufferAttributes {
        let maximum = UInt32.max
        let target = UInt32.max
        let prebuffer = UInt32.max
        let request = UInt32.max
        /// Bytes of a part of the recording.
        let fragment: UInt32
    }

    private typealias New =
        @convention(c) (
            UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeMutablePointer<Int32>?
        ) -> OpaquePointer?
    private typealias Read =
        @convention(c) (
            OpaquePointer?, UnsafeMutableRawPointer?, Int, UnsafeMutablePointer<Int32>?
        ) -> Int32
    private typealias Latency = @convention(c) (OpaquePointer?, UnsafeMutablePointer<Int32>?) -> UInt64
    private typealias Free = @convention(c) (OpaquePointer?) -> Void
    private typealias Words = @convention(c) (Int32) -> UnsafePointer<CChar>?

    /// PA_STREAM_RECORD.
    private static let record: Int32 = 2
    /// Frames of a part: 20 ms.
    private static let part = ClickSignal.rate / 50

    private let stream: OpaquePointer
    private let readPart: Read
    private let latency: Latency
    private let free: Free
    /// Words for a number of an error; nil: the library has none.
    private let words: Words?
    /// The frames so far, -1 to 1.
    private(set) var frames: [Float] = []
    /// Instants of frame 0 in seconds of CLOCK_MONOTONIC, one by each part.
    private var beginnings: [Double] = []

    /// Starts recording. `source`: the name of a source at the server; nil: the default.
    init(source: String?) throws(Problem) {
        guard let library = dlopen(LIBRARY_PULSE_SIMPLE_FILE, RTLD_NOW | RTLD_LOCAL) else {
            throw Problem(message: "cannot load \(LIBRARY_PULSE_SIMPLE_FILE); install \(LIBRARY_PULSE_SIMPLE_PACKAGE)")
        }
        func symbol<T>(_ name: String, _ type: T.Type) throws(Problem) -> T {
            guard let found = dlsym(library, name) else { throw Problem(message: "libpulse-simple has no \(name)") }
            return unsafeBitCast(found, to: type)
        }
        let new = try symbol("pa_simple_new", New.self)
        readPart = try symbol("pa_simple_read", Read.self)
        latency = try symbol("pa_simple_get_latency", Latency.self)
        free = try symbol("pa_simple_free", Free.self)
        // Of libpulse, which comes with it.
        words = try? symbol("pa_strerror", Words.self)
        var error: Int32 = 0
        let specification = SampleSpec(rate: UInt32(ClickSignal.rate))
        let attributes = BufferAttributes(fragment: UInt32(Self.part * MemoryLayout<Float>.size))
        let made = withUnsafePointer(to: specification) { specification in
            withUnsafePointer(to: attributes) { attributes in
                new(nil, "nowplayingctl", Self.record, source, "measure-delay", specification, nil, attributes, &error)
            }
        }
        guard let made else { throw Self.problem(error, words) }
        stream = made
    }

    deinit { free(stream) }

    /// PA_ERR_INVALID for an invalid name of a source, and PA_ERR_NOENTITY.
    private static let noSuchSource: [Int32] = [3, 5]

    private static func text(_ error: Int32, _ words: Words?) -> String {
        words?(error).map { TerminalText.safe(String(cString: $0)) } ?? "error \(error)"
    }

    private static func problem(_ error: Int32, _ words: Words?) -> Problem {
        Problem(
            message: noSuchSource.contains(error)
                ? "the sound server has no microphone for this user; see: pactl list short sources"
                : "cannot record at the sound server of this user: \(text(error, words)); check that it runs: pactl info"
        )
    }

    /// Records the next 20 ms, and waits for them.
    func record() throws(Problem) {
        var error: Int32 = 0
        var part = [Float](repeating: 0, count: Self.part)
        let size = part.count * MemoryLayout<Float>.size
        guard readPart(stream, &part, size, &error) >= 0 else {
            throw Problem(message: "the recording has ended: \(Self.text(error, words))")
        }
        frames += part
        let age = latency(stream, &error)
        let now = Double(MonotonicTime.now.nanoseconds) / 1e9
        guard age < 10_000_000 else { return }
        // The latency is the age of the next frame to read.
        beginnings.append(now - Double(age) / 1e6 - Double(frames.count) / Double(ClickSignal.rate))
    }

    /// Instant of frame 0 in seconds of CLOCK_MONOTONIC: the median of all parts, as single reports are late. Nil: no part
    /// has a time.
    var beginning: Double? {
        let sorted = beginnings.sorted()
        return sorted.isEmpty ? nil : sorted[sorted.count / 2]
    }
}
