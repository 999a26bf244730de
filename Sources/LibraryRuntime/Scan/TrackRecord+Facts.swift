import NowPlaying
package import TrackDatabase
package import TrackReading

extension TrackRecord {
    /// A track with the facts from its file.
    package init(path: TrackPath, file: TrackFile, facts: TrackFacts) {
        self.init(path: path)
        self.file = file
        duration = facts.duration
        format = TrackFormat(facts.format)
        for tag in TrackTag.allCases {
            let texts = facts.texts(of: tag)
            if !texts.isEmpty { tags[tag] = texts }
        }
        numbers.trackNumber = facts.trackNumber.map(Int64.init)
        numbers.trackCount = facts.trackCount.map(Int64.init)
        numbers.discNumber = facts.discNumber.map(Int64.init)
        numbers.discCount = facts.discCount.map(Int64.init)
        numbers.movementNumber = facts.movementNumber.map(Int64.init)
        numbers.movementCount = facts.movementCount.map(Int64.init)
        numbers.chapterCount = facts.chapters.isEmpty ? nil : Int64(facts.chapters.count)
        isCompilation = facts.isCompilation == true
        hasLyrics = facts.hasLyrics
        hasPicture = facts.pictureCount > 0
        loudness.trackGain = facts.loudness?.trackGain
        loudness.trackPeak = facts.loudness?.trackPeak
        loudness.albumGain = facts.loudness?.albumGain
        loudness.albumPeak = facts.loudness?.albumPeak
    }

    /// A track of an unreadable file.
    package init(path: TrackPath, file: TrackFile) {
        self.init(path: path)
        self.file = file
    }
}

extension TrackFormat {
    /// The format of a file; unknown numbers become nil.
    fileprivate init(_ format: MediaFormat) {
        func known(_ number: Int) -> Int64? { number > 0 ? Int64(number) : nil }
        self.init(
            codec: format.codec.isEmpty ? nil : format.codec, sampleRate: known(format.sampleRate),
            bitsPerSample: format.bitsPerSample.flatMap(known), channels: known(format.channels))
    }
}

extension TrackFacts {
    /// The texts for a tag of the library.
    fileprivate func texts(of tag: TrackTag) -> [String] {
        switch tag {
        case .artist: tags.singleArtists
        case .albumArtist: tags.singleAlbumArtists
        case .date: date.map { [$0] } ?? first(.date, .releaseDate)
        case .originalDate: originalDate.map { [$0] } ?? first(.originalDate)
        case .comment: tags.has(.comment) ? tags[.comment] : tags[.description]
        case .artistSort: tags[.artistSort]
        case .albumArtistSort: tags[.albumArtistSort]
        case .album: tags[.album]
        case .albumSort: tags[.albumSort]
        case .composer: tags[.composer]
        case .composerSort: tags[.composerSort]
        case .conductor: tags[.conductor]
        case .performer: tags[.performer]
        case .genre: tags[.genre]
        case .label: tags[.label]
        case .grouping: tags[.grouping]
        case .mood: tags[.mood]
        case .work: tags[.work]
        case .discSubtitle: tags[.discSubtitle]
        case .ensemble: tags[.ensemble]
        case .location: []
        case .musicBrainzArtistId: tags[.musicBrainzArtistId]
        case .musicBrainzAlbumArtistId: tags[.musicBrainzAlbumArtistId]
        case .musicBrainzAlbumId: tags[.musicBrainzAlbumId]
        case .musicBrainzReleaseGroupId: tags[.musicBrainzReleaseGroupId]
        case .title: tags[.title]
        case .titleSort: tags[.titleSort]
        case .movement: tags[.movement]
        case .musicBrainzRecordingId: tags[.musicBrainzTrackId]
        case .musicBrainzReleaseTrackId: tags[.musicBrainzReleaseTrackId]
        case .musicBrainzWorkId: tags[.musicBrainzWorkId]
        }
    }

    private func first(_ names: TagName...) -> [String] {
        names.lazy.compactMap { tags.first($0) }.first.map { [$0] } ?? []
    }
}
