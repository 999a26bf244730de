import AudioCore
import NowPlaying

/// What is known of an item beyond what is in its file: where it goes on, and its chapters.
extension DecodeWorker {
    /// Seconds of the file where an item begins: where it is asked for, or where it goes on.
    func beginning(of item: DecodeItem, _ decoder: any AudioDecoder) -> Double {
        guard item.mayResume, item.position == 0, decoder.isSeekable,
            let place = shared.knowledge.resumePosition(item.source)
        else { return item.position }
        let media = item.contentTime.media(ofContent: place)
        // The file may be another one by now.
        if let length = decoder.lengthInFrames, decoder.format.frames(seconds: media) >= length { return item.position }
        return media
    }

    /// What the item says of itself, with the chapters that somebody else knows.
    func metadata(of item: DecodeItem, _ decoder: any AudioDecoder, isLive: Bool) -> MediaMetadata {
        var metadata = decoder.metadata
        if metadata.chapters == nil, !isLive { metadata.chapters = shared.knowledge.chapters(item.source) }
        return metadata
    }
}
