import AudioCore
import LinuxSystem
import NowPlaying

/// Announces the end of the queue to the server, and silences frames after it.
@PlayerLoop final class Drains {
    private unowned let playout: Playout

    /// Seconds before the end at which the server is informed: more than any quantum of PipeWire (8192 frames at 48 kHz).
    static let lead = 0.3

    /// Without a drain.
    init(_ playout: Playout) { self.playout = playout }

    /// Seconds before the end of a lane at which the server is informed: an output that commits frames needs it before
    /// it commits the frames at the beginning of the next stream.
    func lead(of lane: Lane) -> Double {
        guard playout.ahead != nil, lane.stream?.committedFrame != nil else { return Self.lead }
        return playout.crossfade.lead(on: lane, 0) + Self.lead
    }

    /// Silences frames after the end that the server holds: a drain would play them.
    func silence(_ lane: Lane, upTo end: Int64) {
        guard lane.isPaced else {
            // An output without a pace ends its queue at the end of the last write.
            lane.stream?.write(UnsafeRawBufferPointer(start: nil, count: 0), at: lane.sentStreamEnd)
            return
        }
        let nothing = [UInt8](repeating: 0, count: 64 << 10)
        let piece = Int64(nothing.count / lane.format.bytesPerFrame)
        var at = lane.sentStreamEnd
        while at < end {
            let frames = min(piece, end - at)
            nothing.withUnsafeBytes { bytes in
                let length = Int(clamping: frames) * lane.format.bytesPerFrame
                lane.stream?.write(UnsafeRawBufferPointer(rebasing: bytes[..<length]), at: at)
            }
            at += frames
        }
    }

    /// Announces the end to the server once it is near: otherwise PipeWire keeps the tail, and less than the prebuffer never
    /// begins. A draining stream cannot be spliced, as it runs on through gaps (PulseAudio turns its prebuffer off):
    /// therefore not sooner.
    func drainIfEnding(_ lane: Lane, audible frame: Double) {
        guard let end = lane.streamEnd, lane.sentStreamEnd >= end, !lane.isDraining, !lane.isCorked,
            lane.rewrite == nil, let stream = lane.stream
        else { return }
        let lead = lane.format.frames(seconds: lead(of: lane) + 0.01)
        guard frame + Double(max(lead, stream.prebufferFrames)) >= Double(end) else { return }
        lane.beginDrain()
        stream.drain { [weak self, weak lane] error in
            guard let self, let lane else { return }
            if !lane.isDraining, error == nil, lane.stream?.isPaced == true { ranDry(lane) }
            guard lane.isDraining else { return }
            lane.endDrain()
            // A start without an audible frame ends here.
            lane.checkStart()
            if playout.stall?.isOfSource == true { playout.starvation.endSilence(lane) }
            playout.closeRetired()
            drained(lane)
        }
    }

    /// Drains a start with fewer frames than a stream's prebuffer, as the next item is late: then the server plays them.
    func drainIfShort(_ lane: Lane) {
        guard lane === playout.audible || lane === playout.ahead, lane.isStarting, !lane.isDraining,
            lane.ringEnd == nil, lane.rewrite == nil, let stream = lane.stream, stream.isPaced,
            lane.sentStreamEnd > lane.audibleFrom, lane.sentStreamEnd - lane.audibleFrom < stream.prebufferFrames,
            let end = playout.decoding.chain.last(where: { $0.opened?.ring === lane.ring })?.ringEnd,
            lane.sentEnd >= end
        else { return }
        stream.drain { [weak self, weak lane] error in
            guard let self, let lane, error == nil, !lane.isDraining else { return }
            lane.checkStart()
            playout.ask(lane, if: [.audible, .begun]) { [unowned self] timing in
                // Frames that came in time flow; later ones began a new flow without a report.
                if timing.isPlaying { lane.restartClock() }
                lane.note(timing)
                playout.starvation.ranOut(lane)
                playout.schedule()
            }
        }
    }

    /// Handles a queue that drained and continues late after all. For such a stream no server reports an underflow.
    private func ranDry(_ lane: Lane) {
        playout.ask(lane, if: [.audible, .begun]) { [unowned self] timing in
            lane.note(timing)
            // A device may be late with its last frames.
            playout.starvation.ranOut(lane)
        }
    }

    /// Handles the end of a drain on an output without a pace, which was faster than any reading.
    private func drained(_ lane: Lane) {
        guard lane === playout.audible, lane.stream?.isPaced == false, let timing = lane.stream?.presentTiming else {
            return
        }
        lane.note(timing)
        playout.schedule()
    }
}
