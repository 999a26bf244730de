import ArtworkLookup
import AudioCore
import DaemonConfiguration
import LinuxSystem
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

@testable import Sessions

/// Requests and searches for pictures.
@Suite struct ArtworkKeeperTests {
    init() { LoopThread.start() }

    @Test(
        "a search is given up when nothing is shown any more, or only what is known", arguments: [nil, 1] as [Int64?])
    @PlayerLoop func givenUp(_ after: Int64?) async throws {
        let subject = Subject()
        let keeper = Self.keeper(subject)
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

    @Test(
        "a film outside the media roots is shown only where the daemon's own user named all pictures of the item",
        arguments: [true, false])
    @PlayerLoop func trust(isOwn: Bool) async {
        let subject = Subject()
        let keeper = Self.keeper(subject)
        subject.film = "/nowhere/film.mp4"
        subject.hasOwnPictures = isOwn
        await withCheckedContinuation { continuation in
            subject.onFound = { continuation.resume() }
            subject.show(1)
            keeper.follow(subject.state)
        }
        let isRefused = keeper.known[0].result.failures.contains { $0.contains("outside of the media roots") }
        #expect(isRefused == !isOwn)
    }

    @PlayerLoop private static func keeper(_ subject: Subject) -> ArtworkKeeper {
        ArtworkKeeper(
            ArtworkKeeper.Parts(
                subject: subject, loop: EventLoop.current, workers: Workers(EventLoop.current, name: "artwork"),
                rules: ArtworkSearch.Rules(), cache: nil, certificates: nil,
                settings: LiveConfiguration(Configuration()), log: { _ in }))
    }
}

/// Shows items of files that don't exist.
@PlayerLoop private final class Subject: ArtworkSubject {
    private(set) var state = NowPlayingState(
        anchor: PlaybackAnchor(elapsed: 0, rate: 0, monotonic: MonotonicTime(nanoseconds: 1)))
    func takeArtwork(from answer: @escaping @PlayerLoop (ItemID) -> [Artwork]) {}
    var onFound: @PlayerLoop () -> Void = {}
    /// A film that clients named with each item; nil: none.
    var film: String?

    /// True if the daemon's own user named it.
    var hasOwnPictures = false

    func show(_ item: Int64?) {
        state.item = item.map {
            NowPlayingItem(id: ItemID($0), play: 1, uri: "", metadata: MediaMetadata(), duration: nil)
        }
    }

    func entry(of item: ItemID) -> QueueEntry? {
        var given = MediaMetadata()
        given.animatedArtwork = film.map { ["1:1": $0] }
        return FilePath(Array("/nowhere/\(item.number).wav".utf8)).map {
            QueueEntry(id: item, source: .file($0), details: ItemDetails(given: given, hasOwnPictures: hasOwnPictures))
        }
    }

    func artworkFound(for item: ItemID) { onFound() }
}
