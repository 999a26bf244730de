import NowPlaying

/// MP4 and QuickTime files: the box `moov` at any offset, with the sound in its tracks and the tags in its list.
enum MP4File {
    /// Boxes of one level that are read, at most.
    private static let maximumBoxes = 4096
    private static let maximumTracks = 64

    /// Reads the boxes from `start` on; false: there is no sound.
    static func read(
        _ window: FileWindow, at start: Int64, into track: inout FoundTrack
    ) throws(TrackReadingError) -> Bool {
        var boxes = MP4Boxes(window, from: start, to: window.size)
        for _ in 0..<maximumBoxes {
            guard let box = try boxes.next() else { return false }
            if box.isA("moov") { return try readMovie(window, box, into: &track) }
        }
        return false
    }

    /// Times of the movie as a whole.
    private struct Movie {
        var timescale = 0
        var duration: Int64 = 0
    }

    private static func readMovie(
        _ window: FileWindow, _ movie: MP4Boxes.Box, into track: inout FoundTrack
    ) throws(TrackReadingError) -> Bool {
        var times = Movie()
        var hasSound = false
        var tracks = 0
        var chapterTrack = MP4ChapterTrack()
        var boxes = MP4Boxes(window, in: movie)
        for _ in 0..<maximumBoxes {
            guard let box = try boxes.next() else { break }
            if box.isA("mvhd") {
                (times.timescale, times.duration) = try self.times(window, box)
            } else if box.isA("mvex"), times.duration == 0 {
                times.duration = try fragmentDuration(window, box)
            } else if box.isA("trak"), tracks < maximumTracks {
                tracks += 1
                let sound = try MP4Track(window, box)
                try chapterTrack.take(sound, window)
                if !hasSound, sound.isSound {
                    hasSound = true
                    sound.write(movieTimescale: times.timescale, movieDuration: times.duration, into: &track)
                }
            } else if box.isA("udta") {
                try readUserData(window, box, into: &track.set)
            } else if box.isA("meta") {
                try MP4List.read(window, box, into: &track.set)
            }
        }
        track.set.close()
        try chapterTrack.write(window, into: &track.set)
        return hasSound
    }

    /// Timescale and duration of `mvhd` or `mdhd`.
    static func times(_ window: FileWindow, _ box: MP4Boxes.Box) throws(TrackReadingError) -> (Int, Int64) {
        let bytes = try window.bytes(at: box.start, count: 36)
        if bytes[0] == 1 { return (bytes.big32(20), bytes.big64(24)) }
        let duration = bytes.big32(16)
        return (bytes.big32(12), duration == 0xFFFF_FFFF ? 0 : Int64(duration))
    }

    private static func fragmentDuration(
        _ window: FileWindow, _ box: MP4Boxes.Box
    ) throws(TrackReadingError) -> Int64 {
        var boxes = MP4Boxes(window, in: box)
        while let inner = try boxes.next() {
            guard inner.isA("mehd") else { continue }
            let bytes = try window.bytes(at: inner.start, count: 12)
            return bytes[0] == 1 ? bytes.big64(4) : Int64(bytes.big32(4))
        }
        return 0
    }

    private static func readUserData(
        _ window: FileWindow, _ data: MP4Boxes.Box, into set: inout TagSet
    ) throws(TrackReadingError) {
        var boxes = MP4Boxes(window, in: data)
        for _ in 0..<maximumBoxes {
            guard let box = try boxes.next() else { return }
            if box.isA("meta") {
                try MP4List.read(window, box, into: &set)
            } else if box.isA("chpl") {
                try readChapters(window, box, into: &set)
            }
        }
    }

    /// Nero's list of chapters: times in 100 ns, and titles with their lengths.
    private static func readChapters(
        _ window: FileWindow, _ box: MP4Boxes.Box, into set: inout TagSet
    ) throws(TrackReadingError) {
        var source = FileStretch(window, from: box.start, to: box.end)
        let head = try source.peek(9)
        guard head.count == 9 else { return }
        let isOld = head[0] == 0
        let count = isOld ? Int(head[4]) : Int(head[8])
        try source.skip(isOld ? 5 : 9)
        for _ in 0..<count {
            let entry = try source.peek(9 + 255)
            guard entry.count >= 9 else { return }
            let length = Int(entry[8])
            let title = entry.part(9, length).text
            set.add(Chapter(start: Double(entry.big64(0)) / 1e7, title: title))
            try source.skip(Int64(9 + length))
        }
    }
}
