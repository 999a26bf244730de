import AudioCore
import Glibc

/// Frames on their way from libFLAC's blocks to the caller's buffer. Frames that do not fit wait here for the next call.
final class FLACDelivery {
    private let format: AudioFormat
    /// Frames of a usual block, for which there is room from the first one that waits.
    private let usualFrames: Int
    /// Place in the caller's buffer for the next frame; nil outside of `fill`.
    private var target: UnsafeMutableRawPointer?
    /// Frames that still fit at `target`.
    private var targetFrames = 0
    /// Frames to drop before the next delivered frame: the part of a block before the target of a seek.
    private var framesToDrop: Int64 = 0
    /// Frames of silence in place of damaged ones, delivered before `rest`.
    private var silentFrames: Int64 = 0
    /// Frames that did not fit into `target`: `restStart..<restEnd`.
    private var rest: UnsafeMutableRawBufferPointer?
    private var restStart = 0
    private var restEnd = 0

    /// Nothing waits. `longestBlock`: frames of the longest block that the stream claims.
    init(_ format: AudioFormat, longestBlock: Int) {
        self.format = format
        usualFrames = min(longestBlock, 8192)
    }

    deinit { rest?.deallocate() }

    /// Delivers into `buffer`, first the frames that wait, then those that `decode` passes to `take`. It is called
    /// until the buffer is full or it returns false. Returns the number of delivered frames.
    func fill(_ buffer: UnsafeMutableRawBufferPointer, _ decode: () -> Bool) -> Int {
        let capacity = buffer.count / format.bytesPerFrame
        target = buffer.baseAddress
        targetFrames = capacity
        defer {
            target = nil
            targetFrames = 0
        }
        repeat { deliverWaiting() } while targetFrames > 0 && decode()
        return capacity - targetFrames
    }

    /// True if no frame waits.
    var isEmpty: Bool { restEnd == restStart && silentFrames == 0 }

    /// Forgets the frames that wait, and drops as many of the next ones.
    func restart(dropping frames: Int64) {
        framesToDrop = frames
        silentFrames = 0
        restStart = 0
        restEnd = 0
    }

    /// Takes the frames of a block, the first of which has the number `expected` + `gap`. Silence fills a gap; frames
    /// before `expected` were delivered.
    func take(_ block: FLACBlock, gap: Int64) {
        if gap > 0 { silentFrames += gap }
        let dropped = min(framesToDrop, silentFrames)
        silentFrames -= dropped
        framesToDrop -= dropped
        let isRepeated = max(0, -gap)
        let skipped = min(Int64(block.frames) - isRepeated, framesToDrop)
        framesToDrop -= skipped
        take(block, from: Int(isRepeated + skipped))
    }

    /// Puts the frames of the block from `start` on into the caller's buffer, and those that do not fit into `rest`.
    private func take(_ block: FLACBlock, from start: Int) {
        deliverSilence()
        var kept = start
        let direct = silentFrames == 0 ? min(targetFrames, block.frames - start) : 0
        if direct > 0, let target {
            convert(block, from: start, frames: direct, to: target)
            advanceTarget(direct)
            kept += direct
        }
        restStart = 0
        restEnd = block.frames - kept
        guard restEnd > 0 else { return }
        let bytes = restEnd * format.bytesPerFrame
        if rest == nil || rest!.count < bytes {
            rest?.deallocate()
            rest = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(bytes, usualFrames * format.bytesPerFrame), alignment: 64)
        }
        convert(block, from: kept, frames: restEnd, to: rest!.baseAddress!)
    }

    /// Delivers the frames that wait from earlier calls: silence, then the rest of a block.
    private func deliverWaiting() {
        deliverSilence()
        let count = min(targetFrames, restEnd - restStart)
        guard count > 0, let target, let rest else { return }
        memcpy(target, rest.baseAddress! + restStart * format.bytesPerFrame, count * format.bytesPerFrame)
        restStart += count
        advanceTarget(count)
    }

    private func deliverSilence() {
        let count = Int(min(Int64(targetFrames), silentFrames))
        guard count > 0, let target else { return }
        memset(target, 0, count * format.bytesPerFrame)
        silentFrames -= Int64(count)
        advanceTarget(count)
    }

    private func advanceTarget(_ frames: Int) {
        target = target.map { $0 + frames * format.bytesPerFrame }
        targetFrames -= frames
    }

    private func convert(_ block: FLACBlock, from start: Int, frames: Int, to output: UnsafeMutableRawPointer) {
        SampleConversion.convert(
            block.samples, channels: block.channels, bitsPerSample: block.bitsPerSample, first: start, frames: frames,
            format.sampleFormat, to: output)
    }
}
