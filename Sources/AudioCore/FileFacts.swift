package import NowPlaying

/// Facts about a file, read without playing it.
package struct FileFacts: Equatable, Sendable {
    package var metadata: MediaMetadata
    /// Seconds; nil: unknown.
    package var duration: Double?
    /// Nil: unknown.
    package var format: MediaFormat?
    /// True if it supports seeking.
    package var isSeekable: Bool

    /// Facts, by their parts.
    package init(
        metadata: MediaMetadata = MediaMetadata(), duration: Double? = nil, format: MediaFormat? = nil,
        isSeekable: Bool = true
    ) {
        self.metadata = metadata
        self.duration = duration
        self.format = format
        self.isSeekable = isSeekable
    }

    /// Facts of an open decoder.
    package init(of decoder: any AudioDecoder) {
        self.init(
            metadata: decoder.metadata,
            duration: decoder.boundedLength.map { decoder.format.seconds(frames: $0) }, format: decoder.mediaFormat,
            isSeekable: decoder.isSeekable)
    }

    /// Facts about a part of the file, without the file's fields of a single track.
    package func part(_ segment: MediaSegment) -> FileFacts {
        var part = self
        part.metadata = metadata.ofWhole
        let end = segment.end?.seconds ?? duration
        part.duration = end.map { max(0, min($0, duration ?? $0) - segment.start.seconds) }
        return part
    }
}

extension MediaMetadata {
    /// Metadata that applies to every part of a file.
    package var ofWhole: MediaMetadata {
        var result = self
        result.title = nil
        result.subtitle = nil
        result.trackNumber = nil
        result.isrc = nil
        result.chapters = nil
        result.loudness?.trackGain = nil
        result.loudness?.trackPeak = nil
        if result.loudness?.isEmpty == true { result.loudness = nil }
        return result
    }
}
