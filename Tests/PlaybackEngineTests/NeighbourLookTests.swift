import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization
import TestSupport
import Testing

@testable import PlaybackEngine

/// Tags of an item's neighbours, read beside it.
@Suite struct NeighbourLookTests {
    /// A file on a medium that does not answer until the test opens the gate.
    private final class Gate: Sendable {
        private let ends: [Int32]
        init() {
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            self.ends = ends
        }
        deinit { for end in ends { close(end) } }
        func open() { _ = write(ends[1], "x", 1) }
        func pass() {
            var byte: UInt8 = 0
            _ = read(ends[0], &byte, 1)
        }
    }

    private static func album(_ number: Int) -> MediaMetadata {
        var metadata = MediaMetadata()
        metadata.albumTitle = "one"
        metadata.trackNumber = number
        metadata.loudness = LoudnessTags(trackGain: -6, albumGain: -12)
        return metadata
    }

    private static func source(_ name: String) throws -> MediaSource {
        .file(try #require(FilePath(Array(name.utf8))))
    }

    /// An item with one neighbour.
    private static func item() throws -> DecodeItem {
        let neighbour = Neighbour(id: ItemID(2), source: try source("/2.flac"))
        return DecodeItem(ticket: 1, id: ItemID(1), source: try source("/1.flac"), neighbours: [neighbour])
    }

    /// Names of the relevant reports.
    private static func names(_ reports: [DecodeReport]) -> [String] {
        reports.compactMap { report in
            if case .opened = report { return "opened" }
            if case .lookedAround = report { return "lookedAround" }
            if case .reached = report { return "reached" }
            return nil
        }
    }

    @Test("a neighbour on a hanging medium delays neither the item nor its sound; its tags come later")
    func hangingNeighbour() async throws {
        let gate = Gate()
        let thread = try #require(
            await DecodingHouse.start { (source, _) throws(DecodingError) in
                if source.path == "/2.flac" { gate.pass() }
                return Silence(Self.album(source.path == "/2.flac" ? 2 : 1))
            })
        thread.decode.begin(run: 1, try Self.item(), in: nil, prefill: 0.1)
        var reports = await thread.reports { if case .reached = $0 { true } else { false } }
        #expect(Self.names(reports) == ["opened", "reached"])
        gate.open()
        reports = await thread.reports { if case .lookedAround = $0 { true } else { false } }
        let found = reports.compactMap { report -> [(id: ItemID, metadata: MediaMetadata)]? in
            if case .lookedAround(ticket: 1, let found) = report { found } else { nil }
        }
        #expect(found.first?.map(\.id) == [ItemID(2)] && found.first?.first?.metadata.trackNumber == 2)
        await LoopThread.run { thread.decode.end() }
    }

    @Test("the tags of a readable neighbour are known before the first sound")
    func quickNeighbour() async throws {
        let thread = try #require(
            await DecodingHouse.start { (source, _) throws(DecodingError) in
                Silence(Self.album(source.path == "/2.flac" ? 2 : 1))
            })
        thread.decode.begin(run: 1, try Self.item(), in: nil, prefill: 0.1)
        let reports = await thread.reports { if case .reached = $0 { true } else { false } }
        #expect(Self.names(reports) == ["opened", "lookedAround", "reached"])
        await LoopThread.run { thread.decode.end() }
    }

    @Test("an album without tags of loudness counts if both of its gains were measured", arguments: [true, false])
    func measuredAlbum(hasAlbumGain: Bool) async throws {
        let measured = LoudnessTags(trackGain: -6, albumGain: hasAlbumGain ? -12 : nil)
        let knowledge = SourceKnowledge(loudness: { _, _ in MeasuredLoudness(measured) })
        let thread = try #require(
            await DecodingHouse.start(knowledge) { (source, _) throws(DecodingError) in
                var metadata = Self.album(source.path == "/2.flac" ? 2 : 1)
                metadata.loudness = nil
                return Silence(metadata)
            })
        thread.decode.begin(run: 1, try Self.item(), in: nil, prefill: 0.1)
        let reports = await thread.reports { if case .reached = $0 { true } else { false } }
        #expect(Self.names(reports) == (hasAlbumGain ? ["opened", "lookedAround", "reached"] : ["opened", "reached"]))
        await LoopThread.run { thread.decode.end() }
    }

    @Test("the end of an item ends the look at its neighbours")
    func leftItem() async throws {
        let (gate, end) = (Gate(), Gate())
        let isGivenUp = Mutex(false)
        let thread = try #require(
            await DecodingHouse.start { (source, abandoned) throws(DecodingError) in
                if source.path == "/2.flac" {
                    gate.pass()
                    isGivenUp.withLock { $0 = abandoned.isSet }
                    end.open()
                }
                return Silence(Self.album(1))
            })
        thread.decode.begin(run: 1, try Self.item(), in: nil, prefill: 0.1)
        _ = await thread.reports { if case .reached = $0 { true } else { false } }
        let other = DecodeItem(ticket: 2, id: ItemID(3), source: try Self.source("/3.flac"))
        thread.decode.begin(run: 2, other, in: nil, prefill: 0.1)
        let reports = await thread.reports { if case .reached = $0 { true } else { false } }
        #expect(Self.names(reports) == ["opened", "reached"])
        gate.open()
        end.pass()
        #expect(isGivenUp.withLock { $0 })
        await LoopThread.run { thread.decode.end() }
    }
}
