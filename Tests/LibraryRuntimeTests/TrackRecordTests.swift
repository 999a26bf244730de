import LibraryRuntime
import NowPlaying
import Testing
import TrackDatabase
import TrackReading

/// Facts of files as records of the database.
@Suite struct TrackRecordTests {
    private func record(_ change: (inout TrackFacts) -> Void) -> TrackRecord {
        var facts = TrackFacts()
        change(&facts)
        return TrackRecord(path: TrackPath("r/a.flac"), file: TrackFile(size: 3), facts: facts)
    }

    @Test(
        "each tag of a file becomes its tag of the library",
        arguments: [
            (TagName.title, TrackTag.title), (.titleSort, .titleSort), (.work, .work), (.movement, .movement),
            (.grouping, .grouping), (.artist, .artist), (.artists, .artist), (.artistSort, .artistSort),
            (.albumArtist, .albumArtist), (.albumArtists, .albumArtist), (.albumArtistSort, .albumArtistSort),
            (.composer, .composer), (.composerSort, .composerSort), (.conductor, .conductor), (.ensemble, .ensemble),
            (.performer, .performer), (.album, .album), (.albumSort, .albumSort), (.discSubtitle, .discSubtitle),
            (.label, .label), (.date, .date), (.releaseDate, .date), (.originalDate, .originalDate), (.genre, .genre),
            (.mood, .mood), (.comment, .comment), (.description, .comment),
            (.musicBrainzTrackId, .musicBrainzRecordingId),
            (.musicBrainzReleaseTrackId, .musicBrainzReleaseTrackId), (.musicBrainzAlbumId, .musicBrainzAlbumId),
            (.musicBrainzArtistId, .musicBrainzArtistId), (.musicBrainzAlbumArtistId, .musicBrainzAlbumArtistId),
            (.musicBrainzReleaseGroupId, .musicBrainzReleaseGroupId), (.musicBrainzWorkId, .musicBrainzWorkId),
        ])
    func tags(name: TagName, tag: TrackTag) {
        #expect(record { $0.tags.add(name, "x y") }.tags == [tag: ["x y"]])
    }

    @Test("single artists come before their joined name, and comments before descriptions")
    func preferred() {
        let record = record { facts in
            for (name, value) in [
                (TagName.artist, "A & B"), (.artists, "A"), (.artists, "B"), (.albumArtist, "C + D"),
                (.albumArtists, "C"), (.albumArtists, "D"), (.description, "d"), (.comment, "c"), (.genre, "g"),
                (.genre, "h"),
            ] { facts.tags.add(name, value) }
        }
        #expect(
            record.tags == [
                .artist: ["A", "B"], .albumArtist: ["C", "D"], .comment: ["c"], .genre: ["g", "h"],
            ])
    }

    @Test(
        "dates are brought into one form where they have one",
        arguments: [
            ("2001", "2001"), ("2001-02-03T10:00", "2001-02-03"), ("in spring", "in spring"),
        ])
    func dates(text: String, date: String) {
        #expect(record { $0.tags.add(.date, text) }.tags[.date] == [date])
    }

    @Test("numbers, loudness, format and presence are taken over, and nothing is made up")
    func numbers() {
        let bare = record { _ in }
        #expect(
            bare
                == {
                    var bare = TrackRecord(path: TrackPath("r/a.flac")); bare.file.size = 3; return bare
                }())
        let full = record { facts in
            (facts.trackNumber, facts.trackCount, facts.discNumber, facts.discCount) = (1, 2, 3, 4)
            (facts.movementNumber, facts.movementCount) = (5, 6)
            facts.chapters = [Chapter(start: 0), Chapter(start: 1)]
            facts.isCompilation = true
            facts.hasLyrics = true
            facts.pictureCount = 1
            facts.duration = 2.5
            facts.loudness = LoudnessTags(trackGain: -1, trackPeak: 0.5, albumGain: -2, albumPeak: 0.75)
            facts.format = MediaFormat(codec: "FLAC", sampleRate: 44_100, channels: 2, bitsPerSample: 16)
        }
        #expect(full.numbers.trackNumber == 1 && full.numbers.trackCount == 2 && full.numbers.discNumber == 3)
        #expect(full.numbers.discCount == 4 && full.numbers.movementNumber == 5 && full.numbers.movementCount == 6)
        #expect(full.numbers.chapterCount == 2 && full.isCompilation && full.hasLyrics && full.hasPicture)
        #expect(full.duration == 2.5 && full.loudness.trackGain == -1 && full.loudness.albumPeak == 0.75)
        #expect(full.loudness.trackPeak == 0.5 && full.loudness.albumGain == -2)
        #expect(full.format == TrackFormat(codec: "FLAC", sampleRate: 44_100, bitsPerSample: 16, channels: 2))
    }
}
