import AudioCore

extension FLACDecoder {
    /// Maximum number of retries with an earlier frame after a false one.
    private static let maximumAttempts = 8

    func seek(toFrame frame: Int64) throws(DecodingError) {
        guard let first else { return }
        // Numbers of samples have at most 36 bits.
        let sample = origin + min(max(0, frame), 1 << 40)
        var limit = search.audioEnd
        if let end, sample >= end {
            setPosition(at: limit, sample: sample)
            isAtEnd = true
            return
        }
        for _ in 1...Self.maximumAttempts {
            let found = try search.lastFrame(notAfter: sample, first: first, end: end, below: limit)
            let start = found.offset == first.offset ? origin : found.header.firstSample
            setPosition(at: found.offset, sample: start)
            framesToDrop = sample - start
            guard handle!.flush() else { throw DecodingError(.broken, "the FLAC decoder could not be reset") }
            // Decode up to the target, to verify the frame.
            while failure == nil, !isAtEnd, restEnd == restStart, silentFrames == 0 { decodeNext() }
            if let failure { throw failure }
            if landing == nil || landing == found.header.firstSample || found.offset == first.offset { return }
            // The frame is damaged, or is a false match in the data of an earlier frame. Begin before it, so that only
            // the missing frames become silence.
            limit = found.offset
        }
    }

    private func setPosition(at offset: Int64, sample: Int64) {
        self.offset = offset
        nextSample = sample
        framesToDrop = 0
        silentFrames = 0
        restStart = 0
        restEnd = 0
        failure = nil
        isAtEnd = false
        resumedOffset = -1
        landing = nil
        beganAtFirst = offset == first?.offset
        head = []
    }
}
