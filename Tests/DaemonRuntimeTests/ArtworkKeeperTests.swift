import ArtworkLookup
import AudioCore
import LinuxSystem
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

@testable import DaemonRuntime

/// What has pictures looked for.
@Suite struct ArtworkKeeperTests {
    init() { LoopThread.start() }

    @Test(
        "a search is given up when nothing is shown any more, or only what is known", arguments: [nil, 1] as [Int64?])
    @PlayerLoop func givenUp(_ after: Int64?) async throws {
        let subject = Subject()
        let keeper = ArtworkKeeper(
            ArtworkKeeper.Parts(
                subject: subject, loop: EventLoop.current, workers: Workers(EventLoop.current, name: "artwork"),
                rules: ArtworkSearch.Rules(), cache: nil, certificates: nil, firstItem: 1, roots: { MediaRoots([]) },
                log: { _ in }))
        await withCheckedContinuation { continuation in
            subject.onFound = { continuation.resume() }
            subject.show(1)
            keeper.follow(subject.state)
        }
        #expect(keeper.known.map(\.item) == [ItemID(1)])
        subject.onFound = {}
        subject.show(2)
        keeper.follow(subject.state)
        let task = try #require(keeper.running?.task)
        // Nothing else can happen on the loop in between.
        subject.show(after)
        keeper.follow(subject.state)
        #expect(task.abandoned.isSet)
        #expect(keeper.running == nil)
    }
}

/// Shows items of files that don't exist.
@PlayerLoop private final class Subject: ArtworkSubject {
    private(set) var state = NowPlayingState(
        anchor: PlaybackAnchor(elapsed: 0, rate: 0, monotonic: MonotonicTime(nanoseconds: 1)))
    var artworkOf: (@PlayerLoop (ItemID) -> [Artwork])?
    var onFound: @PlayerLoop () -> Void = {}

    func show(_ item: Int64?) {
        state.item = item.map {
            NowPlayingItem(id: ItemID($0), play: 1, uri: "", metadata: MediaMetadata(), duration: nil)
        }
    }

    func entry(of item: ItemID) -> QueueEntry? {
        FilePath(Array("/nowhere/\(item.number).wav".utf8)).map { QueueEntry(id: item, source: .file($0)) }
    }

    func artworkFound(for item: ItemID) { onFound() }
}
