import NowPlaying

/// Reads the facts of sound files for a library: tags, length and kind of the sound.
///
/// It needs an open descriptor and calls only fstat(2) and pread(2): two or three calls for most files. It never
/// decodes, and reads at most 16 MiB of any file. It uses 256 KiB of memory. One reader serves one file after the
/// other, on one thread at a time.
package final class TrackReader {
    private let window = FileWindow()
    private static let maximumTags = 8

    /// A reader without a file.
    package init() {}

    /// Calls of pread(2) for the last file.
    package var reads: Int { window.reads }

    /// The facts of the open file, at any position of its descriptor; with all fields of its tags by their names if
    /// `keepsComments`. Throws if the file can't be read, or has no known audio.
    package func read(
        _ descriptor: Int32, keepsComments: Bool = false
    ) throws(TrackReadingError) -> TrackFacts {
        try window.open(descriptor, keepsComments: keepsComments)
        var track = FoundTrack(set: TagSet(keepsComments: keepsComments))
        var leading = TagSet(keepsComments: keepsComments)
        var start: Int64 = 0
        for _ in 0..<Self.maximumTags {
            guard let length = ID3Tag.length(try window.bytes(at: start, count: 10)) else { break }
            if let tag = try ID3Tag(window, at: start) { leading.fill(from: tag.set) }
            start += length
        }
        let first = try window.bytes(at: start, count: 64)
        let kind = TrackKind(first, isAfterTag: start > 0)
        guard try read(kind, first, at: start, leading, into: &track) else { throw .notRecognised }
        track.set.fill(from: leading)
        return track.finished()
    }

    /// Reads the sound and the tags of a file of this kind, which begins with `first`; false: it is not of this kind.
    /// `leading`: fields of the tags before it.
    private func read(
        _ kind: TrackKind, _ first: ByteView, at start: Int64, _ leading: TagSet, into track: inout FoundTrack
    ) throws(TrackReadingError) -> Bool {
        switch kind {
        case .flac:
            try FLACFile.read(window, at: start, into: &track)
            return true
        case .ogg: return try OggFile.read(window, at: start, into: &track)
        case .mp4: return try MP4File.read(window, at: start, into: &track)
        case .wave: return try ChunkFile.read(window, at: start, isLittle: true, into: &track)
        case .aiff: return try ChunkFile.read(window, at: start, isLittle: false, into: &track)
        case .dsf: return try PackedFiles.readDSF(window, at: start, into: &track)
        case .asf: return try ASFFile.read(window, at: start, into: &track)
        case .au: return try PlainFiles.readAU(window, at: start, into: &track)
        case .caf: return try PlainFiles.readCAF(window, at: start, into: &track)
        case .w64: return try PlainFiles.readW64(window, at: start, into: &track)
        case .mpegAudio:
            track.set = leading
            let end = try fillFromEnd(&track)
            return try MPEGFile.read(window, from: start, to: end, isSure: start > 0, into: &track)
        case .adts:
            track.set = leading
            let end = try fillFromEnd(&track)
            return try PackedFiles.readADTS(window, from: start, to: end, into: &track)
        case .trueAudio:
            guard PackedFiles.readTrueAudio(first, into: &track) else { return false }
            track.set = leading
            _ = try fillFromEnd(&track)
            return true
        case .musepack, .wavPack, .monkeysAudio:
            // The format's own tags are APE tags.
            let isKnown = kind == .wavPack && PackedFiles.readWavPack(first, into: &track)
            _ = try fillFromEnd(&track)
            if kind == .wavPack { return isKnown }
            return kind == .musepack
                ? try PackedFiles.readMusepack(window, at: start, into: &track)
                : try PackedFiles.readMonkeysAudio(window, at: start, into: &track)
        case .unknown: return false
        }
    }

    /// Adds the fields of the tags at the end that are missing. Returns the end of the sound.
    private func fillFromEnd(_ track: inout FoundTrack) throws(TrackReadingError) -> Int64 {
        let ends = try EndTags(window)
        if ends.hasLyrics { track.set.noteLyrics() }
        track.set.fill(from: try ends.apeFields())
        track.set.fill(from: try ends.oldFields())
        return ends.audioEnd
    }
}
