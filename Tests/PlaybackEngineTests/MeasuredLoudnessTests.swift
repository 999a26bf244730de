import AudioCore
import LinuxSystem
import MixedOutput
import NowPlaying
import Synchronization
import TestSupport
import Testing

@testable import PlaybackEngine

/// Measured loudness beside that of tags: the rule, and the gains by it.
@Suite struct MeasuredLoudnessTests {
    private static let tagged = LoudnessTags(trackGain: -6, albumGain: -9)
    private static let measured = LoudnessTags(trackGain: 3, trackPeak: 0.25, albumGain: 1, albumPeak: 0.5)
    private static let peak = LoudnessTags(trackPeak: 0.5)

    @Test(
        "one of the two counts as a whole, and peaks alone count for nothing",
        arguments: [
            (.tags, nil, nil, nil), (.tags, tagged, nil, tagged), (.tags, nil, measured, measured),
            (.tags, tagged, measured, tagged), (.tags, peak, measured, measured), (.tags, tagged, peak, tagged),
            (.tags, LoudnessTags(albumGain: -9), measured, LoudnessTags(albumGain: -9)), (.measured, nil, nil, nil),
            (.measured, tagged, nil, tagged), (.measured, nil, measured, measured),
            (.measured, tagged, measured, measured), (.measured, tagged, peak, tagged), (.measured, peak, nil, peak),
            (.measured, tagged, LoudnessTags(trackGain: 1), LoudnessTags(trackGain: 1)),
        ] as [(LoudnessSource, LoudnessTags?, LoudnessTags?, LoudnessTags?)])
    func rule(source: LoudnessSource, tags: LoudnessTags?, measured: LoudnessTags?, expected: LoudnessTags?) {
        #expect(source.chosen(tags: tags, measured: measured) == expected)
        #expect(MeasuredLoudness(measured, source).chosen(beside: tags) == expected)
        if source.ignoresMeasurement(beside: tags) { #expect(source.chosen(tags: tags, measured: measured) == tags) }
    }

    // MARK: Gains of a player

    /// An item of a local file with these tags.
    private static func item(_ loudness: LoudnessTags? = nil, album: String? = nil, number: Int? = nil) -> ScriptedItem
    {
        var item = BoundaryTests.item(seconds: 1)
        // A frame that never comes makes it a file of a disk.
        item.breakFrame = .max
        item.metadata.loudness = loudness
        item.metadata.albumTitle = album
        item.metadata.trackNumber = number
        return item
    }

    /// The published loudness of each item, played in order. `measured`: that of each item by its measurement.
    private static func published(
        _ items: [ScriptedItem], _ measured: [LoudnessTags?], _ source: LoudnessSource, _ mode: LoudnessMode
    ) async -> [LoudnessStatus?] {
        await LoopThread.run {
            HistoryWorld.enter()
            let world = HistoryWorld(
                seed: 1, machine: HistoryWorld.Machine(), check: HistoryCheck(tolerance: 0.004, gap: 4), items: items,
                output: { NullOutput($0) },
                configure: { parts in
                    parts.loudness = LoudnessSettings(mode: mode)
                    parts.knowledge = SourceKnowledge(loudness: { media, _ in
                        let number = media.path.flatMap { Int(String(decoding: $0.bytes.dropFirst(), as: UTF8.self)) }
                        return MeasuredLoudness(number.flatMap { measured[$0] }, source)
                    })
                })
            guard let world else { return [] }
            defer { world.leave() }
            world.play(0..<items.count)
            world.run(seconds: 100, until: { world.player.transport.wish == .stopped })
            #expect(world.check.complaints == [])
            return items.indices.map { index in
                world.published.last { $0.state == .playing && $0.item?.id.number == Int64(index + 1) }?.loudness
            }
        }
    }

    private static func status(_ mode: LoudnessMode, _ gain: Double?, _ basis: LoudnessMode?) -> LoudnessStatus {
        LoudnessStatus(mode: mode, gain: gain, basis: basis)
    }

    @Test("files without tags have their measured gain, those with tags the gain of the setting")
    func gains() async {
        let items = [Self.item(), Self.item(), Self.item(Self.tagged), Self.item(Self.tagged)]
        let measured = [Self.measured, nil, Self.measured, nil]
        let byTags = await Self.published(items, measured, .tags, .track)
        #expect(byTags.map { $0?.gain } == [3, nil, -6, -6])
        #expect(byTags.map { $0?.basis } == [.track, nil, .track, .track])
        let byMeasurement = await Self.published(items, measured, .measured, .album)
        #expect(byMeasurement.map { $0?.gain } == [1, nil, 1, -9])
        #expect(byMeasurement.map { $0?.basis } == [.album, nil, .album, .album])
        let off = await Self.published(items, measured, .measured, .off)
        #expect(off == Array(repeating: Self.status(.off, nil, nil), count: 4))
    }

    @Test("the measured peak limits the measured gain") func peaks() async {
        let loud = LoudnessTags(trackGain: 12, trackPeak: 0.5)
        let found = await Self.published([Self.item()], [loud], .tags, .track)
        #expect(found == [Self.status(.track, 6.02, .track)])
    }

    @Test("auto takes the measured gain of an album while it plays in order, and that of the track otherwise")
    func albums() async {
        let items = [("a", 1), ("a", 2), ("a", 4), ("b", 5), ("b", 6), ("c", 7)].map {
            Self.item(album: $0, number: $1)
        }
        let found = await Self.published(items, items.map { _ in Self.measured }, .tags, .auto)
        #expect(found.map { $0?.gain } == [1, 1, 3, 1, 1, 3])
        #expect(found.map { $0?.basis } == [.album, .album, .track, .album, .album, .track])
    }

    // MARK: Looks of the decode thread

    /// Counts looks, each of which finds another gain.
    private final class Looks: Sendable {
        private let count = Atomic<Int>(0)
        var number: Int { count.load(ordering: .relaxed) }
        var knowledge: SourceKnowledge {
            SourceKnowledge(loudness: { [self] _, _ in
                MeasuredLoudness(
                    LoudnessTags(trackGain: Double(count.add(1, ordering: .relaxed).newValue)), .measured)
            })
        }
    }

    private static func file(_ name: String) throws -> MediaSource {
        .file(try #require(FilePath(Array(name.utf8))))
    }

    @Test("a file is looked up at each opening, and not at a seek") func looks() async throws {
        let looks = Looks()
        let thread = try #require(await DecodingHouse.start(looks.knowledge))
        // The third returns to a file that was closed meanwhile.
        for (run, (file, position)) in [("/a", 0.0), ("/a", 0.5), ("/b", 0), ("/a", 0), ("/a", 1)].enumerated() {
            let id = ItemID(file == "/a" ? 1 : 2)
            let item = DecodeItem(ticket: run, id: id, source: try Self.file(file), position: position)
            thread.decode.begin(run: run + 1, item, in: nil, prefill: 0.1)
            #expect(await thread.opened().measured.values?.trackGain == [1, 1, 2, 3, 3][run])
        }
        #expect(looks.number == 3)
        await LoopThread.run { thread.decode.end() }
    }

    @Test("a file that opens late is looked up, a remote source is not") func lateSources() async throws {
        let looks = Looks()
        let remote = MediaSource.remote(RemoteMedia(address: "x", shownAddress: "x", mayUseLoopback: false))
        for (source, isLate) in [(remote, false), (remote, true), (try Self.file("/a.m4a"), true)] {
            let thread = try #require(
                await DecodingHouse.start(looks.knowledge) {
                    let item = BoundaryTests.item(seconds: 1)
                    return isLate ? LateScriptedDecoder(item) : Silence()
                })
            thread.decode.begin(
                run: 1, DecodeItem(ticket: 1, id: ItemID(1), source: source), in: nil, prefill: 0.1)
            let expected = source.isRemote ? nil : 1.0
            #expect(await thread.opened().measured.values?.trackGain == expected)
            await LoopThread.run { thread.decode.end() }
        }
        #expect(looks.number == 1)
    }
}
