import AudioCore
import NowPlaying

/// Other rates than 1, made between the decoder and the ring.
extension DecodeWorker {
    /// The rate that an item is played at, what makes it, the item's own rate, and why it is not the one that was wanted.
    func rate(
        of item: DecodeItem, _ decoder: any AudioDecoder
    ) -> (rate: Double, changer: (any RateChanger)?, own: Double, failure: String?) {
        let own = item.givenRate ?? shared.rates.rate(item.source, decoder.metadata)
        let wanted = item.chosenRate ?? own
        guard wanted != 1 else { return (1, nil, own, nil) }
        if item.scans { return (wanted, wanted > 1 ? ScanChanger(decoder.format, rate: wanted) : nil, own, nil) }
        do throws(DecodingError) {
            return (wanted, try shared.rates.makeChanger(decoder.format, wanted), own, nil)
        } catch {
            return (1, nil, own, error.message)
        }
    }

    /// Bytes that are decoded at once for a rate changer.
    private static let scratchBytes = 16 << 10

    /// The next frames for the ring; 0: the item has ended; nil: none yet.
    func changed(
        _ work: inout Work, by changer: any RateChanger, into room: UnsafeMutableRawBufferPointer
    ) throws(DecodingError) -> Int64? {
        if scratch.isEmpty { scratch = [UInt8](repeating: 0, count: Self.scratchBytes) }
        let size = work.ring.format.bytesPerFrame
        while true {
            let made = changer.read(into: room)
            if made > 0 || work.isDecoded { return Int64(made) }
            var result: Result<Int64?, DecodingError> = .success(0)
            scratch.withUnsafeMutableBytes { bytes in
                let place = UnsafeMutableRawBufferPointer(rebasing: bytes[..<(bytes.count / size * size)])
                do throws(DecodingError) {
                    let frames = try frames(of: &work, into: place)
                    changer.write(UnsafeRawBufferPointer(rebasing: place[..<(Int(frames ?? 0) * size)]))
                    result = .success(frames)
                } catch { result = .failure(error) }
            }
            guard let frames = try result.get() else { return nil }
            work.itemFrame += frames
            if frames == 0 {
                work.isDecoded = true
                changer.finish()
            }
        }
    }
}
