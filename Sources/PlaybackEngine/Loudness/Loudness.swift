import Glibc
package import NowPlaying

/// Settings of loudness normalisation. A pure value.
package struct LoudnessSettings: Equatable, Sendable {
    package var mode: LoudnessMode
    /// Gain in dB in addition to that of tags; items without tags stay unchanged.
    package var preamp: Double

    /// Settings; the default leaves every sample unchanged.
    package init(mode: LoudnessMode = .off, preamp: Double = 0) {
        self.mode = mode
        self.preamp = preamp
    }

    /// Gain of an item; nil: no tags, or mode `off`.
    package func gain(of tags: LoudnessTags?, inAlbum: Bool) -> ItemGain? {
        guard mode != .off, let tags else { return nil }
        let wantsAlbum = mode == .album || (mode == .auto && inAlbum)
        // One kind of tag is better than none.
        let usesAlbum = wantsAlbum ? tags.albumGain != nil : tags.trackGain == nil
        guard let tagged = usesAlbum ? tags.albumGain : tags.trackGain else { return nil }
        var factor = pow(10, (tagged + preamp) / 20)
        if let peak = usesAlbum ? tags.albumPeak ?? tags.trackPeak : tags.trackPeak, factor * peak > 1 {
            // The loudest sample reaches full scale and never exceeds it.
            factor = 1 / peak
        }
        return ItemGain(factor: factor, basis: usesAlbum ? .album : .track)
    }
}

/// Gain of one item's samples.
package struct ItemGain: Equatable, Sendable {
    /// Amplitude factor; 1: unchanged.
    package let factor: Double
    /// `track` or `album`.
    package let basis: LoudnessMode

    /// Gain in dB, to a hundredth as in tags.
    package var decibels: Double { (2000 * log10(factor)).rounded() / 100 }
}

/// True if one item directly follows another on the same album.
package func followsOnAlbum(_ next: MediaMetadata, after item: MediaMetadata) -> Bool {
    guard let album = item.albumTitle, next.albumTitle == album, next.albumArtist == item.albumArtist,
        let number = item.trackNumber, let nextNumber = next.trackNumber
    else { return false }
    let (disc, nextDisc) = (item.discNumber ?? 1, next.discNumber ?? 1)
    if nextDisc == disc { return nextNumber == number + 1 }
    return nextDisc == disc + 1 && nextNumber == 1
}
