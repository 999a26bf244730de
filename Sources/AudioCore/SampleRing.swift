import Glibc
import Synchronization

/// Frames between the decode thread (the only producer) and the player's loop (the only consumer), kept until they are
/// audible.
///
/// Frames are counted from 0 over the ring's life and keep their place until they are released, so that frames that
/// were sent to the server but are not audible yet can be sent again. A `run` numbers the producer's task: when the
/// consumer starts a new run, later commits for the old one are dropped. The lock guards the four counters only;
/// samples are copied outside it.
package final class SampleRing: @unchecked Sendable {
    // @unchecked: a rule shares the memory. The producer writes only between `end` and `begin + capacity`, the consumer
    // reads only between `begin` and `end`, and both bounds change under the lock.
    private struct Bounds {
        var begin: Int64 = 0
        var end: Int64 = 0
        var run: Int
    }

    /// Format of the frames.
    package let format: AudioFormat
    /// True if its frames arrive at the pace of playback, so that there are never many ahead.
    package let isLive: Bool
    /// Capacity in frames.
    package let capacity: Int64
    private let memory: UnsafeMutableRawPointer
    private let byteCount: Int
    private let bounds: Mutex<Bounds>

    /// An empty ring for at least this many frames. The system allocates memory at the first write. Nil: none is left.
    package init?(format: AudioFormat, capacity: Int64, run: Int, isLive: Bool = false) {
        self.format = format
        self.isLive = isLive
        self.capacity = max(1, capacity)
        byteCount = Int(self.capacity) * format.bytesPerFrame
        guard
            let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            memory != MAP_FAILED
        else { return nil }
        self.memory = memory
        bounds = Mutex(Bounds(run: run))
    }

    deinit { munmap(memory, byteCount) }

    /// First frame that is kept.
    package var begin: Int64 { bounds.withLock { $0.begin } }
    /// Frame after the last one that was produced.
    package var end: Int64 { bounds.withLock { $0.end } }

    // MARK: Producer

    /// Next writable piece, of at most `limit` frames; nil if the ring is full or another run has begun. Producer only.
    package func writable(run: Int, limit: Int64) -> UnsafeMutableRawBufferPointer? {
        let bounds = bounds.withLock { $0 }
        guard bounds.run == run else { return nil }
        let start = bounds.end % capacity
        let frames = min(limit, bounds.begin + capacity - bounds.end, capacity - start)
        guard frames > 0 else { return nil }
        let frame = format.bytesPerFrame
        return UnsafeMutableRawBufferPointer(start: memory + Int(start) * frame, count: Int(frames) * frame)
    }

    /// Makes frames written into `writable` visible. Returns the new end; nil if another run has begun. Producer only.
    package func commit(_ frames: Int64, run: Int) -> Int64? {
        bounds.withLock { bounds in
            guard bounds.run == run else { return nil }
            bounds.end += frames
            return bounds.end
        }
    }

    // MARK: Consumer

    /// Passes the frames of `range`, which must be kept, to `body` in one or two pieces in order. Consumer only.
    package func read(_ range: Range<Int64>, _ body: (UnsafeRawBufferPointer) -> Void) {
        let kept = bounds.withLock { $0 }
        precondition(range.lowerBound >= kept.begin && range.upperBound <= kept.end, "frames that are not kept")
        let frame = format.bytesPerFrame
        var next = range.lowerBound
        while next < range.upperBound {
            let start = next % capacity
            let frames = min(range.upperBound - next, capacity - start)
            body(UnsafeRawBufferPointer(start: memory + Int(start) * frame, count: Int(frames) * frame))
            next += frames
        }
    }

    /// Passes the frames of `range`, which must be kept, to `body` to change them in place. Consumer only.
    package func change(_ range: Range<Int64>, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
        read(range) { body(UnsafeMutableRawBufferPointer(mutating: $0)) }
    }

    /// Releases the frames before `frame`. Consumer, or the producer at an instant that the consumer planned.
    package func release(before frame: Int64) {
        bounds.withLock { $0.begin = max($0.begin, min(frame, $0.end)) }
    }

    /// Begins a new run: later commits of older runs are dropped, and so are the frames from `frame` on; nil drops all.
    /// Returns the frame at which the new run begins. Consumer only.
    package func startRun(_ run: Int, at frame: Int64?) -> Int64 {
        bounds.withLock { bounds in
            bounds.run = run
            if let frame {
                bounds.end = max(bounds.begin, min(frame, bounds.end))
            } else {
                bounds.begin = bounds.end
            }
            return bounds.end
        }
    }

    /// Frames that the producer may still write. Either side.
    package var freeFrames: Int64 { bounds.withLock { $0.begin + capacity - $0.end } }
}
