import AudioCore
import LinuxSystem
import NowPlaying

/// Facts about an item that are not in its file: its resume position, its chapters and its measured loudness.
extension DecodeWorker {
    /// Seconds of the file at which an item begins: the ordered position, or the resume position.
    func beginning(of item: DecodeItem, _ decoder: any AudioDecoder) -> Double {
        guard item.mayResume, item.position == 0, decoder.isSeekable,
            let place = shared.knowledge.resumePosition(item.source)
        else { return item.position }
        let media = item.contentTime.media(ofContent: place)
        // The file may have been replaced.
        if let length = decoder.boundedLength, decoder.format.frames(seconds: media) >= length { return item.position }
        return media
    }

    /// The tags of an item, with the chapters of a file beside it. The search for that file runs once, as a seek in the
    /// same item must not wait for it.
    func metadata(of item: DecodeItem, _ decoder: any AudioDecoder, isLive: Bool) -> MediaMetadata {
        var metadata = decoder.metadata
        guard metadata.chapters == nil, !isLive else { return metadata }
        metadata.chapters = chapters.fact(of: item.id) { shared.knowledge.chapters(item.source) }
        return metadata
    }

    /// The measured loudness of an item. The look reads a small file, for each opening of a source once; a remote source has
    /// none.
    func measuredLoudness(of item: DecodeItem, _ decoder: any AudioDecoder, isKept: Bool) -> MeasuredLoudness {
        if item.source.isRemote { return MeasuredLoudness() }
        return loudness.fact(of: item.id, isNew: !isKept) {
            shared.knowledge.loudness(item.source, decoder.metadata.loudness)
        }
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
            // Its playback reports the error that prevents the measurement.
        }
        endMeasuring()
    }
}
