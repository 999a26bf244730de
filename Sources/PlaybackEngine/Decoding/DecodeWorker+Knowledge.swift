import AudioCore
import LinuxSystem
import NowPlaying

/// Facts about an item that do not stand in its file: the position to resume it at, and its chapters.
extension DecodeWorker {
    /// Seconds of the file where an item begins: the ordered position, or the one to resume at.
    func beginning(of item: DecodeItem, _ decoder: any AudioDecoder) -> Double {
        guard item.mayResume, item.position == 0, decoder.isSeekable,
            let place = shared.knowledge.resumePosition(item.source)
        else { return item.position }
        let media = item.contentTime.media(ofContent: place)
        // The file may be another one by now.
        if let length = decoder.boundedLength, decoder.format.frames(seconds: media) >= length { return item.position }
        return media
    }

    /// The tags of an item, with the chapters of a file beside it. Those are looked for once, as a seek in the same item must
    /// not wait for them.
    func metadata(of item: DecodeItem, _ decoder: any AudioDecoder, isLive: Bool) -> MediaMetadata {
        var metadata = decoder.metadata
        guard metadata.chapters == nil, !isLive else { return metadata }
        metadata.chapters = chapters.chapters(of: item.id) { shared.knowledge.chapters(item.source) }
        return metadata
    }

    /// Seconds that commands may wait for a measurement.
    private static let measuringSeconds = 0.02

    /// Measures the length, for as long as a command may wait.
    func measure() {
        guard let decoder = work?.decoder, let ticket = work?.item.ticket else { return }
        let begin = EventLoop.now
        do throws(DecodingError) {
            try decoder.measureLength { EventLoop.now.seconds(since: begin) > Self.measuringSeconds }
            if decoder.lengthIsEstimated { return }
            if let length = decoder.boundedLength { shared.post(.measured(ticket: ticket, length: length), run: run) }
        } catch {
            // Playing it reports the error that prevents the measurement.
        }
        endMeasuring()
    }
}
