import AudioCore
import NowPlaying

/// Rates other than 1, made between the decoder and the ring.
extension DecodeWorker {
    /// The rate of an item, its changer, the item's own rate, and the reason if it is not the ordered rate.
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

    /// The next frames for the ring; 0: the item has ended; nil: none yet.
    func changed(
        _ work: inout DecodeWork, by changer: any RateChanger, into room: UnsafeMutableRawBufferPointer
    ) throws(DecodingError) -> Int64? {
        let size = work.ring.format.bytesPerFrame
        while true {
            let made = changer.read(into: room)
            if made > 0 || work.decoderHasEnded { return Int64(made) }
            let decoded = try scratch.withRoom(bytesPerFrame: size) { (bytes) throws(DecodingError) -> Int64? in
                let frames = try frames(of: &work, into: bytes)
                changer.write(UnsafeRawBufferPointer(rebasing: bytes[..<(Int(frames ?? 0) * size)]))
                return frames
            }
            guard let decoded else { return nil }
            work.decoded(decoded)
            if decoded == 0 {
                work.decoderEnded()
                changer.finish()
            }
        }
    }
}
