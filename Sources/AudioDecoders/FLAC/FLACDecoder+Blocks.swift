import AudioCore
import Glibc

extension FLACDecoder: FLACHandleClient {
    func supply(_ buffer: UnsafeMutableRawBufferPointer) -> Int? {
        if !head.isEmpty {
            let count = min(head.count, buffer.count)
            buffer.copyBytes(from: head[..<count])
            head.removeFirst(count)
            return count
        }
        do throws(DecodingError) {
            let count = try file.read(into: buffer, at: offset)
            offset += Int64(count)
            return count
        } catch {
            failure = error
            return nil
        }
    }

    func receive(_ block: FLACBlock) -> Bool {
        blocksInCall += 1
        // Where frames are missing, libFLAC 1.4.2 fills in silent blocks, without a limit, and overwrites the samples
        // of the next block: see `decodeNext`.
        if blocksInCall > 1 { return false }
        accept(block)
        return true
    }

    private func accept(_ block: FLACBlock) {
        let isDamaged = block.mayBeDamaged && block.isSilent
        guard
            block.channels == info.channels && block.bitsPerSample == info.bitsPerSample
                && block.sampleRate == info.sampleRate
        else {
            // A damaged block says nothing about the format.
            if !isDamaged { failure = DecodingError(.broken, "its format changes in the middle") }
            return
        }
        // The header of a damaged block is not reliable, unless it has the expected number.
        if isDamaged, block.firstSample != nextSample { return }
        let gap = block.firstSample - nextSample
        // These frames were played before: the block is a repetition, or begins a second stream after the first.
        if gap + Int64(block.frames) <= 0 { return }
        if gap > 0, let last = end ?? lengthInFrames.map({ origin + $0 }), block.firstSample > last { return }
        if !isDamaged { hasDecoded = true }
        if landing == nil { landing = block.firstSample }
        nextSample = block.firstSample + Int64(block.frames)
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
            let usual = min(info.maximumBlockFrames, 8192) * format.bytesPerFrame
            rest = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes, usual), alignment: 64)
        }
        convert(block, from: kept, frames: restEnd, to: rest!.baseAddress!)
    }

    /// Delivers the frames that wait from earlier calls: silence, then the rest of a block.
    func deliverWaiting() {
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
        if format.sampleFormat == .int16 {
            SampleConversion.int16(
                block.samples, channels: block.channels, bitsPerSample: block.bitsPerSample, first: start,
                frames: frames, to: output)
        } else {
            SampleConversion.int32(
                block.samples, channels: block.channels, bitsPerSample: block.bitsPerSample, first: start,
                frames: frames, to: output)
        }
    }
}
