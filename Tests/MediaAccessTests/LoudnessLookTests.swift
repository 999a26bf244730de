import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

@testable import MediaAccess

/// Measured loudness of sources, by the files behind them.
@Suite struct LoudnessLookTests {
    private let folder = TemporaryFolder(isInMemory: true)
    private let values = LoudnessTags(trackGain: -6, trackPeak: 0.5, albumGain: -3, albumPeak: 1)
    private let tags = LoudnessTags(trackGain: 2)

    private func look(_ source: LoudnessSource = .tags) -> LoudnessLook {
        LoudnessLook(stateDirectory: folder.path, source: source)
    }

    private func path(_ text: String) throws -> FilePath { try #require(FilePath(Array(text.utf8))) }

    /// A measured file.
    private func measured(_ name: String) throws -> String {
        let file = folder.file(name)
        var status = stat()
        try #require(stat(file, &status) == 0)
        let key = try #require(LoudnessKey(status))
        try LoudnessTableWriter(LoudnessTable.path(in: folder.path)).replace(with: [(key, values)])
        return file
    }

    private func confined(_ root: String, _ name: String) throws -> MediaSource {
        .confined(ConfinedPath(root: try path(root), relative: try path(name)))
    }

    @Test("a file, a link to it, its path below a root and its open descriptor have the same loudness") func sources()
        throws
    {
        let file = try measured("music/a.flac")
        try #require(symlink("a.flac", folder.path("music/b.flac")) == 0)
        try #require(link(file, folder.path("music/c.flac")) == 0)
        let descriptor = OwnedDescriptor(open(file, O_RDONLY | O_CLOEXEC))
        let root = folder.path("music")
        let sources: [MediaSource] = [
            .file(try path(file)), .file(try path(folder.path("music/b.flac"))),
            .file(try path(folder.path("music/c.flac"))), try confined(root, "a.flac"), try confined(root, "b.flac"),
            .descriptor(descriptor, name: "x"),
        ]
        for source in sources { #expect(look().loudness(of: source, tags: nil).values == values) }
    }

    @Test("nothing is known of anything else") func others() throws {
        let file = try measured("music/a.flac")
        folder.folder("other")
        try #require(symlink("../music/a.flac", folder.path("other/leaves.flac")) == 0)
        try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (end, other) = (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
        let sources: [MediaSource] = [
            .file(try path(folder.file("music/b.flac"))), .file(try path(folder.path("missing"))),
            .file(try path(folder.path("music"))), .file(try path(folder.path("pipe"))),
            try confined(folder.path("other"), "leaves.flac"), try confined(folder.path("missing"), "a.flac"),
            .descriptor(end, name: "x"), .handedOver(name: "x"),
            .remote(RemoteMedia(address: "http://x/" + file, shownAddress: "x", mayUseLoopback: false)),
        ]
        withExtendedLifetime(other) {
            for source in sources { #expect(look(.measured).loudness(of: source, tags: nil).values == nil) }
        }
    }

    @Test("a part of a file has the loudness of the file, which counts as its album") func segments() throws {
        let file = try measured("a.flac")
        let part = MediaSegment(
            audio: .file(try path(file)), sheet: .file(try path(folder.path("a.cue"))), number: 2,
            start: MediaTime(4500, perSecond: 75), end: nil)
        let whole = LoudnessTags(trackGain: -6, trackPeak: 0.5, albumGain: -6, albumPeak: 0.5)
        #expect(look().loudness(of: .segment(part), tags: nil).values == whole)
    }

    @Test("the look follows the setting") func setting() throws {
        let source = MediaSource.file(try path(try measured("a.flac")))
        let look = look()
        #expect(look.loudness(of: source, tags: nil) == MeasuredLoudness(values, .tags))
        #expect(look.loudness(of: source, tags: tags) == MeasuredLoudness(nil, .tags))
        look.setSource(.measured)
        #expect(look.loudness(of: source, tags: tags) == MeasuredLoudness(values, .measured))
        look.setSource(.tags)
        #expect(look.loudness(of: source, tags: tags) == MeasuredLoudness(nil, .tags))
    }

    @Test("a file that changed is unknown, and a new table counts at once") func changes() throws {
        let file = try measured("a.flac")
        let source = MediaSource.file(try path(file))
        let look = look()
        #expect(look.loudness(of: source, tags: nil).values == values)
        let times = [timespec(tv_sec: 1, tv_nsec: 1), timespec(tv_sec: 1, tv_nsec: 1)]
        try #require(utimensat(AT_FDCWD, file, times, 0) == 0)
        #expect(look.loudness(of: source, tags: nil).values == nil)
        _ = try measured("a.flac")
        #expect(look.loudness(of: source, tags: nil).values == values)
        try #require(truncate(file, 100) == 0)
        #expect(look.loudness(of: source, tags: nil).values == nil)
    }
}
