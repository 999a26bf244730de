import AudioCore
import LinuxSystem
import NowPlaying

/// An event of an output or a stream.
enum OutputEvent: Equatable {
    case connection(OutputError?)
    case device(OutputDevice?)
    case volume(Double, muted: Bool)
    case ready, needsFrames, started, underflow, moved
    case suspended(Bool)
    case failed(OutputError)
    case appeared
    case interrupted(String?)
    case asked(String?)
}

/// Hears of an output and its streams, and lets a test wait for what it hears.
@PlayerLoop final class OutputLog: AudioOutputDelegate, AudioStreamDelegate {
    private(set) var events: [OutputEvent] = []
    /// Why devices changed.
    private(set) var reasons: [RouteReason] = []
    /// Set: answers each request for frames.
    var refill: ((any AudioStream) -> Void)?
    private var seen = 0
    private var waiting: (test: (OutputEvent) -> Bool, continuation: CheckedContinuation<OutputEvent, Never>)?

    init() {}

    private func add(_ event: OutputEvent) {
        events.append(event)
        guard let (test, continuation) = waiting, test(event) else { return }
        waiting = nil
        seen = events.count
        continuation.resume(returning: event)
    }

    /// The next event, after the last that was waited for, which passes the test.
    @discardableResult func next(_ test: @escaping (OutputEvent) -> Bool) async -> OutputEvent {
        if let index = events.indices.dropFirst(seen).first(where: { test(events[$0]) }) {
            seen = index + 1
            return events[index]
        }
        return await withCheckedContinuation { waiting = (test, $0) }
    }

    /// Waits for this event, after the last that was waited for.
    func next(_ event: OutputEvent) async { await next { $0 == event } }

    /// Returns when there was an event that passes the test, whether it was waited for before or not.
    func knows(_ test: @escaping (OutputEvent) -> Bool) async {
        if !events.contains(where: test) { await next(test) }
    }

    func count(_ event: OutputEvent) -> Int { events.count { $0 == event } }

    func outputConnectionChanged(_ error: OutputError?) { add(.connection(error)) }
    func outputDeviceChanged(_ device: OutputDevice?, _ reason: RouteReason?) {
        if let reason { reasons.append(reason) }
        add(.device(device))
    }
    func outputDeviceAppeared() { add(.appeared) }
    func outputInterrupted(by name: String) { add(.interrupted(name)) }
    func outputInterruptionEnded() { add(.interrupted(nil)) }
    func streamIsAskedToCork(_ stream: any AudioStream, for name: String?) { add(.asked(name)) }
    func outputVolumeChanged(_ volume: Double, muted: Bool) { add(.volume(volume, muted: muted)) }
    func streamIsReady(_ stream: any AudioStream) { add(.ready) }
    func streamNeedsFrames(_ stream: any AudioStream) {
        refill?(stream)
        add(.needsFrames)
    }
    func streamStarted(_ stream: any AudioStream) { add(.started) }
    func streamUnderflowed(_ stream: any AudioStream) { add(.underflow) }
    func streamSuspended(_ stream: any AudioStream, _ suspended: Bool) { add(.suspended(suspended)) }
    func streamMoved(_ stream: any AudioStream) { add(.moved) }
    func streamFailed(_ stream: any AudioStream, _ error: OutputError) { add(.failed(error)) }
}

/// Samples that stay where they are, for writing without a copy.
final class KeptSamples {
    let bytes: UnsafeMutableRawBufferPointer

    init<Sample>(_ samples: [Sample]) {
        bytes = .allocate(byteCount: samples.count * MemoryLayout<Sample>.stride, alignment: 16)
        samples.withUnsafeBytes { bytes.copyMemory(from: $0) }
    }

    deinit {
        // A later read would find other bytes.
        bytes.initializeMemory(as: UInt8.self, repeating: 0x55)
        bytes.deallocate()
    }
}

/// The port's commands, awaited.
extension AudioStream {
    func corked(_ corked: Bool) async -> OutputError? {
        await withCheckedContinuation { continuation in setCorked(corked) { continuation.resume(returning: $0) } }
    }

    func flushed() async -> OutputError? {
        await withCheckedContinuation { continuation in flush { continuation.resume(returning: $0) } }
    }

    func drained() async -> OutputError? {
        await withCheckedContinuation { continuation in drain { continuation.resume(returning: $0) } }
    }

    func timing() async throws -> StreamTiming {
        try await withCheckedContinuation { continuation in
            readTiming { continuation.resume(returning: $0) }
        }.get()
    }

    /// Writes samples without a copy; nothing but the stream holds them after that.
    func writeKept<Sample>(_ samples: [Sample], at frame: Int64? = nil) -> () -> KeptSamples? {
        let kept = KeptSamples(samples)
        write(UnsafeRawBufferPointer(kept.bytes), at: frame, keeping: kept)
        return { [weak kept] in kept }
    }

    /// Writes samples.
    func write<Sample>(_ samples: [Sample], at frame: Int64? = nil) {
        samples.withUnsafeBytes { write($0, at: frame) }
    }
}

extension AudioOutput {
    func devices() async throws -> [OutputDevice] {
        try await withCheckedContinuation { continuation in
            listDevices { continuation.resume(returning: $0) }
        }.get().map(\.device)
    }
}

extension AudioFormat {
    /// 44.1 kHz stereo, 16 bit.
    static let compactDisc = AudioFormat(sampleFormat: .int16, sampleRate: 44100, channelCount: 2)
}
