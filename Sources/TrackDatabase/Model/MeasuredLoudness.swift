package import NowPlaying

/// The loudness of a track as the library measured it.
package struct MeasuredLoudness: Equatable, Sendable {
    /// Integrated loudness of the track in LUFS.
    package var track: Double
    /// Highest true peak of the track as an amplitude, 1 = full scale.
    package var truePeak: Double
    /// Integrated loudness of its album in LUFS; nil: it is on none, or the album is not measured yet.
    package var album: Double?
    /// Highest true peak of its album as an amplitude; nil like `album`.
    package var albumPeak: Double?

    /// A loudness, by its parts.
    package init(track: Double, truePeak: Double, album: Double? = nil, albumPeak: Double? = nil) {
        self.track = track
        self.truePeak = truePeak
        self.album = album
        self.albumPeak = albumPeak
    }

    /// The same as tags of a file have it: gains relative to −18 LUFS.
    package var tags: LoudnessTags {
        LoudnessTags(
            trackGain: LoudnessTags.reference - track, trackPeak: truePeak,
            albumGain: album.map { LoudnessTags.reference - $0 }, albumPeak: albumPeak)
    }
}

/// Result of the look at a whole file for its loudness.
package enum LoudnessFinding: Equatable, Sendable {
    /// Its blocks, and its highest true peak as an amplitude.
    case measured(LoudnessBlocks, truePeak: Double)
    /// It cannot be decoded, for this reason: it is not read again before it changes.
    case failed(String)
}
