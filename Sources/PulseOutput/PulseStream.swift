package import AudioCore
import CPulse
import Glibc
package import LinuxSystem
import NowPlaying

/// A playback stream at a sound server.
///
/// Commands go out in the order of the calls, without waiting. Written frames are copied, and sent in the next turn of
/// the loop.
@PlayerLoop package final class PulseStream: AudioStream {
    package let format: AudioFormat
    private(set) package var targetFrames: Int64
    private(set) package var refillFrames: Int64
    private(set) package var prebufferFrames: Int64
    private(set) package var aheadFrames: Int64 = 0
    package var requestedFrames: Int64? {
        // A server on another machine does not stamp its answers on our clock: nothing may be between question and answer.
        guard isReady, let stream, let connection, pa_context_is_local(connection.context) == 1 else { return nil }
        return max(0, Int64(clamping: pa_stream_writable_size(stream)) / Int64(format.bytesPerFrame) - unfilledFrames)
    }
    package var canRewind: Bool { rewinds.canRewind }
    package var isStepped: Bool { rewinds.isFixed }

    unowned let output: PulseOutput
    let loop: EventLoop
    private(set) weak var delegate: (any AudioStreamDelegate)?
    /// libpulse's stream; nil before its creation and after its end.
    private(set) var stream: OpaquePointer?
    private(set) var connection: PulseConnection?
    private(set) var isReady = false
    private let wish: StreamBuffering
    /// Frames of the queue at the server that are never filled.
    private var unfilledFrames: Int64 = 0
    /// Last requested cork state.
    private var isCorked = true
    private(set) var isSuspended = false
    /// True for an announcement's stream beside the playback, of which the output reports nothing.
    let isAnnouncement: Bool
    /// True while the server requests silence.
    private(set) var isAskedToCork = false
    private var rewinds: RewindKnowledge
    /// Number of the latest volume request that was applied to the stream.
    private(set) var volumeWish = 0

    /// A stream that the server has not made yet. `isLive`: with little buffering, for a source that continues by
    /// itself.
    init(
        _ output: PulseOutput, _ format: AudioFormat, isLive: Bool, isAnnouncement: Bool = false,
        delegate: any AudioStreamDelegate, isPipeWire: Bool
    ) {
        self.isAnnouncement = isAnnouncement
        self.output = output
        loop = output.loop
        self.format = format
        self.delegate = delegate
        rewinds = RewindKnowledge(isPipeWire: isPipeWire)
        wish = StreamBuffering(format, isLive: isLive)
        targetFrames = wish.target
        refillFrames = wish.refill
        prebufferFrames = wish.prebuffer
    }

    /// True if the stream is uncorked.
    var isLetGo: Bool { isReady && !isCorked }

    /// The stream's number at the server; nil: it is not ready.
    var index: UInt32? { isReady ? stream.map { pa_stream_get_index($0) } : nil }

    /// The number of the sink that it plays on; nil: it is not ready.
    var sink: UInt32? { isReady ? stream.map { pa_stream_get_device_index($0) } : nil }

    // MARK: Beginning and end

    /// Requests the stream from the server. Failures are reported later.
    func begin(_ connection: PulseConnection, sink: String?, volume: Double?, muted: Bool?) {
        self.connection = connection
        var spec = format.pulseSampleSpec
        var map = format.pulseChannelMap
        let properties = pa_proplist_new()
        pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, isAnnouncement ? "announce" : "music")
        pa_proplist_sets(properties, PA_PROP_MEDIA_ICON_NAME, "audio-x-generic")
        defer { pa_proplist_free(properties) }
        guard let made = pa_stream_new_with_proplist(connection.context, "nowplayingd", &spec, &map, properties) else {
            failLater(OutputError(.refused, "the sound server takes no audio of \(describe(format))"))
            return
        }
        stream = made
        setCallbacks(made)
        let bytesPerFrame = Int64(format.bytesPerFrame)
        var buffering = pa_buffer_attr(
            maxlength: UInt32.max, tlength: UInt32(wish.length * bytesPerFrame),
            prebuf: UInt32(wish.prebuffer * bytesPerFrame), minreq: UInt32(wish.refill * bytesPerFrame),
            fragsize: UInt32.max)
        var flags = PA_STREAM_START_CORKED.rawValue
        if let muted { flags |= (muted ? PA_STREAM_START_MUTED : PA_STREAM_START_UNMUTED).rawValue }
        let flagSet = pa_stream_flags_t(rawValue: flags)
        let result: Int32
        if let volume {
            var channels = PulseVolume.channels(format.channels.count, volume)
            result = pa_stream_connect_playback(made, sink, &buffering, flagSet, &channels, nil)
        } else {
            result = pa_stream_connect_playback(made, sink, &buffering, flagSet, nil, nil)
        }
        if result < 0 { failLater(streamError()) }
    }

    /// Reports the stream's failure in the next turn of the loop, if it still lives then.
    func failLater(_ error: OutputError) {
        loop.later { [self] in
            guard let delegate else { return }
            end()
            delegate.streamFailed(self, error)
        }
    }

    package func close() {
        end()
        output.forget(self)
    }

    /// Ends the stream without a report; outstanding requests complete with an error.
    func end() {
        delegate = nil
        isReady = false
        guard let stream else { return }
        self.stream = nil
        clearCallbacks(stream)
        connection?.cancelRequests(of: self)
        connection = nil
        abandon(stream)
    }

    // MARK: Filling

    package func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?) {
        guard isReady, let stream, frames.count > 0 else { return }
        precondition(frames.count % format.bytesPerFrame == 0, "only whole frames can be written")
        var rest = frames
        var next = frame
        while rest.count > 0 {
            // libpulse cuts a long piece into blocks and sends each with the same offset.
            let piece = UnsafeRawBufferPointer(
                rebasing: rest.prefix(Self.positionedBytes / format.bytesPerFrame * format.bytesPerFrame))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
            writeCopy(of: piece, stream, at: next)
            next = next.map { $0 + Int64(piece.count / format.bytesPerFrame) }
        }
    }

    /// Writes a copy of ours: libpulse's own copies would grow its memory to the maximum ever in transit, and keep it.
    private func writeCopy(of frames: UnsafeRawBufferPointer, _ stream: OpaquePointer, at frame: Int64?) {
        guard let copy = malloc(frames.count), let start = frames.baseAddress else { return }
        copy.copyMemory(from: start, byteCount: frames.count)
        let (offset, seek) = frame.map { ($0 * Int64(format.bytesPerFrame), PA_SEEK_ABSOLUTE) } ?? (0, PA_SEEK_RELATIVE)
        // libpulse does not free a block that it refuses.
        if pa_stream_write(stream, copy, frames.count, { free($0) }, offset, seek) < 0 { free(copy) }
    }

    package func write(_ frames: UnsafeRawBufferPointer, at frame: Int64?, keeping owner: AnyObject) {
        guard isReady, let stream, frames.count > 0 else { return }
        precondition(frames.count % format.bytesPerFrame == 0, "only whole frames can be written")
        var rest = frames
        if let frame {
            // libpulse cuts a long piece into blocks and sends each with the same offset: so only one block may have an
            // offset.
            let first = min(frames.count, Self.positionedBytes / format.bytesPerFrame * format.bytesPerFrame)
            write(UnsafeRawBufferPointer(rebasing: frames[..<first]), at: frame)
            rest = UnsafeRawBufferPointer(rebasing: frames[first...])
        }
        // libpulse also ignores frames: after a block that ends within a frame, the server would lose all later frames.
        let isCutAtFrames = Self.blockBytes % format.bytesPerFrame == 0
        let piece = isCutAtFrames ? rest.count : Self.blockBytes / format.bytesPerFrame * format.bytesPerFrame
        while rest.count > 0 {
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(piece))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece))
            let kept = Unmanaged.passRetained(owner)
            let result = pa_stream_write_ext_free(
                stream, part.baseAddress, part.count, { owner in Unmanaged<AnyObject>.fromOpaque(owner!).release() },
                kept.toOpaque(), 0, PA_SEEK_RELATIVE)
            // libpulse does not free a block that it refuses.
            if result < 0 { return kept.release() }
        }
    }

    /// Bytes of the blocks that libpulse sends (`pa_mempool_block_size_max`).
    private static let blockBytes = 65472
    /// Bytes of a piece that is written at its own offset: less than a block of libpulse.
    private static let positionedBytes = 60 << 10

    package func setCorked(_ corked: Bool, _ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        if isReady { isCorked = corked }
        defer { output.flowChanged() }
        ask(completion) { pa_stream_cork($0, corked ? 1 : 0, streamSucceeded, $1) }
    }

    package func flush(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        ask(completion) { pa_stream_flush($0, streamSucceeded, $1) }
    }

    package func drain(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) {
        guard !isCorked else {
            loop.later { completion(OutputError(.refused, "a stopped stream can't play to its end")) }
            return
        }
        // Our limit does not apply, because the tail may be long. libpulse itself stops waiting after 30 s.
        ask(completion, limit: nil) { pa_stream_drain($0, streamSucceeded, $1) }
    }

    package func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void) {
        // The server runs commands in order: the answer belongs to the present requested state.
        let (corked, suspended) = (isCorked, isSuspended)
        var sent: MonotonicTime?
        var reading: Result<StreamTiming, OutputError> = .failure(.disconnected)
        ask(
            { error in completion(error.map { .failure($0) } ?? reading) }, isUrgent: true,
            { stream, context in
                sent = EventLoop.now
                return pa_stream_update_timing_info(stream, streamSucceeded, context)
            },
            then: { [self] in reading = takeTiming(sent: sent!, isCorked: corked, isSuspended: suspended) })
    }

    package func setTitle(_ title: String, artist: String?) {
        guard isReady, let stream else { return }
        let properties = pa_proplist_new()
        defer { pa_proplist_free(properties) }
        pa_proplist_sets(properties, PA_PROP_MEDIA_TITLE, title)
        pa_proplist_sets(properties, PA_PROP_MEDIA_ARTIST, artist ?? "")
        pa_proplist_sets(properties, PA_PROP_MEDIA_NAME, artist.map { "\($0) - \(title)" } ?? title)
        if let operation = pa_stream_proplist_update(stream, PA_UPDATE_REPLACE, properties, nil, nil) {
            pa_operation_unref(operation)
        }
    }

    /// Sends a command of the stream; on success `then` runs before the completion.
    private func ask(
        _ completion: @escaping @PlayerLoop (OutputError?) -> Void, limit: Double? = PulseConnection.answerLimit,
        isUrgent: Bool = false,
        _ start: (OpaquePointer, UnsafeMutableRawPointer) -> OpaquePointer?,
        then: @escaping @PlayerLoop () -> Void = {}
    ) {
        guard isReady, let stream, let connection else {
            loop.later { completion(.closed) }
            return
        }
        connection.send(owner: self, limit: limit, isUrgent: isUrgent, { start(stream, $0) }) { result in
            switch result {
            case .success:
                then()
                completion(nil)
            case .failure(let error): completion(error)
            }
        }
    }

    // MARK: Time

    /// Computes a reading from the answer that has just arrived.
    private func takeTiming(sent: MonotonicTime, isCorked: Bool, isSuspended: Bool) -> Result<StreamTiming, OutputError>
    {
        // Read the clocks first: each microsecond here is an error of the clock.
        let now = EventLoop.now
        let wall = wallClockMicroseconds()
        guard let stream, let info = pa_stream_get_timing_info(stream)?.pointee, info.read_index_corrupt == 0 else {
            return .failure(OutputError(.refused, "the sound server reports no time for the stream"))
        }
        let roundTrip = now.seconds(since: sent)
        // The stamp of the answer is on the wall clock, from the server if it runs on the same clock, else from
        // libpulse in the middle of the round trip. Its age survives steps of that clock, except steps during the round
        // trip.
        let stamp = Int64(info.timestamp.tv_sec) * 1_000_000 + Int64(info.timestamp.tv_usec)
        var age = Double(wall - stamp) / 1e6
        if age < 0 || age > roundTrip { age = roundTrip / 2 }
        let raw = RawTiming(
            readIndex: info.read_index, deviceMicroseconds: info.sink_usec, playing: info.playing != 0,
            sinceUnderrun: UInt64(bitPattern: Int64(info.since_underrun)))
        let timing = raw.reading(
            format, isCorked: isCorked, isSuspended: isSuspended, time: now.advanced(bySeconds: -age),
            roundTrip: roundTrip)
        rewinds.observe(timing, isCorked: isCorked, sampleRate: format.sampleRate)
        return .success(timing)
    }

    /// Records the driver of the stream's device and the arguments of its module, which decide about rewinding.
    func deviceKnown(driver: String, arguments: String) { rewinds.setDevice(driver: driver, arguments: arguments) }

    /// Records the number of the latest volume request that the stream has from its start or was sent for it.
    func volumeApplied(_ wish: Int) { volumeWish = wish }

    // MARK: Events of the server

    /// Handles a request of the server for silence, or its withdrawal.
    func serverAsks(cork: Bool) {
        isAskedToCork = cork
        output.serverAsks(self, cork: cork)
    }

    /// Copies the buffering that the server granted.
    func readBuffering() {
        guard let stream, let given = pa_stream_get_buffer_attr(stream)?.pointee else { return }
        let bytesPerFrame = Int64(format.bytesPerFrame)
        // A server whose device takes more ahead has a longer queue, which is filled as much further.
        let length = Int64(given.tlength) / bytesPerFrame
        targetFrames = max(1, min(length, wish.target + max(0, length - wish.length)))
        unfilledFrames = max(0, length - targetFrames)
        refillFrames = max(1, Int64(given.minreq) / bytesPerFrame)
        aheadFrames = isStepped ? 0 : max(0, length - 2 * refillFrames)
        prebufferFrames = Int64(given.prebuf) / bytesPerFrame
    }

    /// Handles a stream that the server has made: reads its buffering and reports to the delegate.
    func becameReady() {
        isReady = true
        readBuffering()
        isSuspended = stream.map { pa_stream_is_suspended($0) > 0 } ?? false
        output.streamBecameReady(self)
        delegate?.streamIsReady(self)
    }

    /// Handles a suspended or resumed device; reported only once the stream is ready.
    func becameSuspended() {
        guard isReady, let stream else { return }
        isSuspended = pa_stream_is_suspended(stream) > 0
        if !isAnnouncement { output.suspensionChanged(self) }
        delegate?.streamSuspended(self, isSuspended)
    }

    /// The error of this stream, from libpulse's last number.
    func streamError() -> OutputError {
        let number = connection.map { pa_context_errno($0.context) } ?? 0
        switch number {
        case Int32(PA_ERR_KILLED.rawValue), Int32(PA_ERR_NOENTITY.rawValue):
            return OutputError(.noDevice, "the sound device is missing or went away")
        case Int32(PA_ERR_TIMEOUT.rawValue): return .hung
        case Int32(PA_ERR_INVALID.rawValue), Int32(PA_ERR_NOTSUPPORTED.rawValue):
            return OutputError(.refused, "the sound server takes no audio of \(describe(format))")
        default: return OutputError(.refused, "the sound server refuses the stream: \(pulseErrorText(number))")
        }
    }
}

/// Text for a format in errors.
private func describe(_ format: AudioFormat) -> String {
    "\(format.sampleRate) Hz and \(format.channels.count) channel\(format.channels.count == 1 ? "" : "s")"
}
