import AudioCore
import LinuxSystem
import NowPlaying

/// Informs the server that nothing follows, and covers frames after the end.
@PlayerLoop final class Drains {
    private unowned let playout: Playout

    /// Seconds before the end when the server is informed of it: more than any quantum of PipeWire (8192 frames at 48 kHz).
    static let lead = 0.3

    /// Drains nothing.
    init(_ playout: Playout) { self.playout = playout }

    /// Covers the frames that the server still holds after the end: a drain would play them.
    func silence(_ lane: Lane, upTo end: Int64) {
        guard lane.isPaced else {
            // An output without a pace ends its queue where the last write ends.
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

    /// Informs the server that nothing follows, once the end is near: without that, PipeWire keeps the tail, and less than the
    /// prebuffer never begins. Not sooner, for a draining stream runs on through gaps (PulseAudio turns its prebuffer off), so
    /// that it can't be spliced any more.
    func drainIfEnding(_ lane: Lane, audible frame: Double) {
        guard let end = lane.streamEnd, lane.sentStreamEnd >= end, !lane.isDraining, !lane.isCorked,
            lane.rewrite == nil, let stream = lane.stream
        else { return }
        let lead = lane.format.frames(seconds: Self.lead + 0.01)
        guard frame + Double(max(lead, stream.prebufferFrames)) >= Double(end) else { return }
        lane.beginDrain()
        stream.drain { [weak self, weak lane] error in
            guard let self, let lane else { return }
            if !lane.isDraining, error == nil, lane.stream?.isPaced == true { ranDry(lane) }
            guard lane.isDraining else { return }
            lane.endDrain()
            // A start with nothing to be audible is over as soon as that is all.
            lane.checkStart()
            if playout.stall == .sourceLate || playout.stall == .mediaGone { playout.starvation.endSilence(lane) }
            playout.closeRetired()
            drained(lane)
        }
    }

    /// All that there is of a start is less than a stream begins with, and the next item is late: drained, the server plays it.
    func drainIfShort(_ lane: Lane) {
        guard lane === playout.audible, lane.isStarting, !lane.isDraining, lane.ringEnd == nil,
            lane.rewrite == nil, let stream = lane.stream, stream.isPaced, lane.sentStreamEnd > lane.heardFrom,
            lane.sentStreamEnd - lane.heardFrom < stream.prebufferFrames,
            let end = playout.decoding.chain.last(where: { $0.opened?.ring === lane.ring })?.ringEnd,
            lane.sentEnd >= end
        else { return }
        stream.drain { [weak self, weak lane] error in
            guard let self, let lane, error == nil, !lane.isDraining else { return }
            lane.checkStart()
            playout.ask(lane, if: [.audible, .begun]) { [unowned self] timing in
                // Frames that came in time flow; those that came since began anew, and no report says so.
                if timing.isPlaying { lane.restartClock() }
                lane.note(timing)
                playout.starvation.ranOut(lane)
                playout.schedule()
            }
        }
    }

    /// All that the server drained is played, and something follows after all, but late. Of a stream that ends so no server
    /// reports that it ran empty.
    private func ranDry(_ lane: Lane) {
        playout.ask(lane, if: [.audible, .begun]) { [unowned self] timing in
            lane.note(timing)
            // A device may be late with the last of it.
            playout.starvation.ranOut(lane)
        }
    }

    /// An output without a pace was faster than any reading of it: that it is at its end is the first that is known.
    private func drained(_ lane: Lane) {
        guard lane === playout.audible, lane.stream?.isPaced == false, let timing = lane.stream?.presentTiming else {
            return
        }
        lane.note(timing)
        playout.schedule()
    }
}
