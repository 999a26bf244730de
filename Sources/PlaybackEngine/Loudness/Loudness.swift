import Glibc
package import NowPlaying

/// What tags of loudness come to. Pure values.
package struct LoudnessSettings: Equatable, Sendable {
    package var mode: LoudnessMode
    /// dB on top of what tags ask for; what has no tags is left as it is.
    package var preamp: Double

    /// Settings; by default every sample is left as it is.
    package init(mode: LoudnessMode = .off, preamp: Double = 0) {
        self.mode = mode
        self.preamp = preamp
    }

    /// The gain of an item: nil where it has no tags or the mode is `off`.
    package func gain(of tags: LoudnessTags?, inAlbum: Bool) -> ItemGain? {
        guard mode != .off, let tags else { return nil }
        let wantsAlbum = mode == .album || (mode == .auto && inAlbum)
        // One kind of tag is better than none.
        let usesAlbum = wantsAlbum ? tags.albumGain != nil : tags.trackGain == nil
        guard let tagged = usesAlbum ? tags.albumGain : tags.trackGain else { return nil }
        var factor = pow(10, (tagged + preamp) / 20)
        if let peak = usesAlbum ? tags.albumPeak ?? tags.trackPeak : tags.trackPeak, factor * peak > 1 {
            // The loudest sample comes to full scale, and never beyond.
            factor = 1 / peak
        }
        return ItemGain(factor: factor, basis: usesAlbum ? .album : .track)
    }
}

/// What the samples of one item are multiplied by.
package struct ItemGain: Equatable, Sendable {
    /// Amplitude, 1 = as it is.
    package let factor: Double
    /// `track` or `album`.
    package let basis: LoudnessMode

    /// The same in dB, to a hundredth as tags have it.
    package var decibels: Double { (2000 * log10(factor)).rounded() / 100 }
}

/// Whether one item follows another on the same album, with nothing left out.
package func followsOnAlbum(_ next: MediaMetadata, after item: MediaMetadata) -> Bool {
    guard let album = item.albumTitle, next.albumTitle == album, next.albumArtist == item.albumArtist,
        let number = item.trackNumber, let nextNumber = next.trackNumber
    else { return false }
    let (disc, nextDisc) = (item.discNumber ?? 1, next.discNumber ?? 1)
    if nextDisc == disc { return nextNumber == number + 1 }
    return nextDisc == disc + 1 && nextNumber == 1
}
