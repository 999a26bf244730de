package import AudioCore
package import LinuxSystem
package import NowPlaying

/// An event of an output or a stream.
package enum OutputEvent: Equatable {
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

/// Records the events of an output and its streams, and lets a test wait for them.
@PlayerLoop package final class OutputLog: AudioOutputDelegate, AudioStreamDelegate {
    private(set) package var events: [OutputEvent] = []
    /// Why devices changed.
    private(set) package var reasons: [RouteReason] = []
    /// Set: answers each request for frames.
    package var refill: ((any AudioStream) -> Void)?
    private var seen = 0
    private var waiting: (test: (OutputEvent) -> Bool, continuation: CheckedContinuation<OutputEvent, Never>)?

    /// Heard nothing yet.
    package init() {}

    private func add(_ event: OutputEvent) {
        events.append(event)
        guard let (test, continuation) = waiting, test(event) else { return }
        waiting = nil
        seen = events.count
        continuation.resume(returning: event)
    }

    /// The next event that passes the test, after the last awaited event.
    @discardableResult package func next(_ test: @escaping (OutputEvent) -> Bool) async -> OutputEvent {
        if let index = events.indices.dropFirst(seen).first(where: { test(events[$0]) }) {
            seen = index + 1
            return events[index]
        }
        return await withCheckedContinuation { waiting = (test, $0) }
    }

    /// Waits for this event, after the last awaited event.
    package func next(_ event: OutputEvent) async { await next { $0 == event } }

    /// Returns when an event has passed the test; it also finds earlier events.
    package func knows(_ test: @escaping (OutputEvent) -> Bool) async {
        if !events.contains(where: test) { await next(test) }
    }

    /// Number of such events so far.
    package func count(_ event: OutputEvent) -> Int { events.count { $0 == event } }

    package func outputConnectionChanged(_ error: OutputError?) { add(.connection(error)) }
    package func outputDeviceChanged(_ device: OutputDevice?, _ reason: RouteReason?) {
        if let reason { reasons.append(reason) }
        add(.device(device))
    }
    package func outputDeviceAppeared() { add(.appeared) }
    package func outputInterrupted(by name: String) { add(.interrupted(name)) }
    package func outputInterruptionEnded() { add(.interrupted(nil)) }
    package func streamIsAskedToCork(_ stream: any AudioStream, for name: String?) { add(.asked(name)) }
    package func outputVolumeChanged(_ volume: Double, muted: Bool) { add(.volume(volume, muted: muted)) }
    package func streamIsReady(_ stream: any AudioStream) { add(.ready) }
    package func streamNeedsFrames(_ stream: any AudioStream) {
        refill?(stream)
        add(.needsFrames)
    }
    package func streamStarted(_ stream: any AudioStream) { add(.started) }
    package func streamUnderflowed(_ stream: any AudioStream) { add(.underflow) }
    package func streamSuspended(_ stream: any AudioStream, _ suspended: Bool) { add(.suspended(suspended)) }
    package func streamMoved(_ stream: any AudioStream) { add(.moved) }
    package func streamFailed(_ stream: any AudioStream, _ error: OutputError) { add(.failed(error)) }
}

/// Samples that stay where they are, for writing without a copy.
package final class KeptSamples {
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
    /// Stops or starts the flow; nil: it was done.
    package func corked(_ corked: Bool) async -> OutputError? {
        await withCheckedContinuation { continuation in setCorked(corked) { continuation.resume(returning: $0) } }
    }

    /// Drops the queue; nil: it was done.
    package func flushed() async -> OutputError? {
        await withCheckedContinuation { continuation in flush { continuation.resume(returning: $0) } }
    }

    /// Plays to the end; nil: all frames were audible.
    package func drained() async -> OutputError? {
        await withCheckedContinuation { continuation in drain { continuation.resume(returning: $0) } }
    }

    /// Reads the timing.
    package func timing() async throws -> StreamTiming {
        try await withCheckedContinuation { continuation in
            readTiming { continuation.resume(returning: $0) }
        }.get()
    }

    /// Writes samples without a copy; nothing but the stream holds them after that.
    package func writeKept<Sample>(_ samples: [Sample], at frame: Int64? = nil) -> () -> KeptSamples? {
        let kept = KeptSamples(samples)
        write(UnsafeRawBufferPointer(kept.bytes), at: frame, keeping: kept)
        return { [weak kept] in kept }
    }

    /// Writes samples.
    package func write<Sample>(_ samples: [Sample], at frame: Int64? = nil) {
        samples.withUnsafeBytes { write($0, at: frame) }
    }
}

extension AudioOutput {
    /// All devices.
    package func devices() async throws -> [OutputDevice] {
        try await withCheckedContinuation { continuation in
            listDevices { continuation.resume(returning: $0) }
        }.get().map(\.device)
    }
}

extension AudioFormat {
    /// 44.1 kHz stereo, 16 bit.
    package static let compactDisc = AudioFormat(sampleFormat: .int16, sampleRate: 44100, channelCount: 2)
}
