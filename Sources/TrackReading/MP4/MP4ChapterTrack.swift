import NowPlaying

/// The chapters of QuickTime: a track of texts, to which the audio track refers. Each sample is a title.
struct MP4ChapterTrack {
    private var wanted: [Int] = []
    private var tracks: [MP4Track] = []

    /// Reads a track of the file.
    mutating func take(_ track: MP4Track, _ window: FileWindow) throws(TrackReadingError) {
        if track.isSound, wanted.isEmpty { wanted = track.chapterTracks }
        if !track.isSound, tracks.count < 8 { tracks.append(track) }
    }

    /// The boxes with times, sizes and offsets of the samples.
    private struct Tables {
        var times: MP4Boxes.Box?
        var sizes: MP4Boxes.Box?
        var offsets: MP4Boxes.Box?
        var areOffsetsLong = false
    }

    /// Adds the chapters, unless there are others.
    func write(_ window: FileWindow, into set: inout TagSet) throws(TrackReadingError) {
        guard set.chapterFrames.isEmpty, let track = tracks.first(where: { wanted.contains($0.number) }),
            let table = track.sampleTable, track.timescale > 0
        else { return }
        var tables = Tables()
        var boxes = MP4Boxes(window, in: table)
        for _ in 0..<64 {
            guard let box = try boxes.next() else { break }
            if box.isA("stts") { tables.times = box }
            if box.isA("stsz") { tables.sizes = box }
            if box.isA("stco") || box.isA("co64") {
                tables.offsets = box
                tables.areOffsetsLong = box.isA("co64")
            }
        }
        try write(tables, timescale: track.timescale, window, into: &set)
    }

    /// Programs write one sample to a chunk; of chunks with several samples, only the first title is read.
    private func write(
        _ tables: Tables, timescale: Int, _ window: FileWindow, into set: inout TagSet
    ) throws(TrackReadingError) {
        guard let times = tables.times, let offsets = tables.offsets, let sizes = tables.sizes else { return }
        let count = try window.bytes(at: offsets.start + 4, count: 4).big32(0)
        let runs = min(try window.bytes(at: times.start + 4, count: 4).big32(0), Chapter.limit)
        guard try window.bytes(at: sizes.start + 8, count: 4).big32(0) == count else { return }
        var time: Int64 = 0
        var index = 0
        for run in 0..<runs {
            let entry = try window.bytes(at: times.start + 8 + Int64(8 * run), count: 8)
            let (samples, length) = (entry.big32(0), Int64(entry.big32(4)))
            for _ in 0..<min(samples, Chapter.limit) where index < min(count, Chapter.limit) {
                let width: Int64 = tables.areOffsetsLong ? 8 : 4
                let place = try window.bytes(at: offsets.start + 8 + Int64(index) * width, count: Int(width))
                let offset = tables.areOffsetsLong ? place.big64(0) : Int64(place.big32(0))
                let size = try window.bytes(at: offset, count: 2).big16(0)
                let text = try window.bytes(at: offset + 2, count: min(size, 1024))
                var title = text.text
                if text.big16(0) == 0xFEFF || text.big16(0) == 0xFFFE {
                    ID3Strings.forEach(text, encoding: 1) { title = $0.text }
                }
                set.add(Chapter(start: Double(time) / Double(timescale), title: title))
                time = min(time + length, 1 << 50)
                index += 1
            }
        }
    }
}
