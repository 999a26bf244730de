import ArtworkLookup
import AudioCore
import ControlProtocol
import ControlServer
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

    @Test("a film outside the media roots is shown only where the daemon's own user named all pictures of the item")
    @PlayerLoop func trust() async {
        enum Step { case adds(foreign: Bool), updates(foreign: Bool) }
        let table: [(steps: [Step], isTrusted: Bool)] = [
            ([], false), ([.adds(foreign: false)], true), ([.adds(foreign: true)], false),
            ([.adds(foreign: true), .updates(foreign: false)], false),
            ([.adds(foreign: false), .updates(foreign: true)], false),
            ([.adds(foreign: false), .updates(foreign: true), .updates(foreign: false)], false),
            ([.updates(foreign: false)], true), ([.updates(foreign: true)], false),
        ]
        for (number, (steps, isTrusted)) in table.enumerated() {
            let subject = Subject()
            let keeper = Self.keeper(subject)
            for step in steps {
                switch step {
                case .adds(let foreign):
                    subject.film = "/nowhere/film.mp4"
                    keeper.pictures(of: [ItemID(1)], namedBy: Self.client(foreign: foreign))
                case .updates(let foreign):
                    keeper.pictures(of: ItemID(1), changedBy: Self.client(foreign: foreign))
                    subject.film = "/nowhere/film.mp4"
                }
            }
            subject.film = "/nowhere/film.mp4"
            await withCheckedContinuation { continuation in
                subject.onFound = { continuation.resume() }
                subject.show(1)
                keeper.follow(subject.state)
            }
            let isRefused = keeper.known[0].result.failures.contains { $0.contains("outside of the media roots") }
            #expect(isRefused == !isTrusted, "\(number)")
        }
    }

    @Test("items that the daemon's own user named once and that are gone are forgotten")
    @PlayerLoop func trustEnds() {
        let subject = Subject()
        let keeper = Self.keeper(subject)
        subject.present = 1000...1010
        for number in 1...20_000 as ClosedRange<Int64> {
            keeper.pictures(of: [ItemID(number)], namedBy: Self.client(foreign: false))
        }
        #expect(keeper.trustedCount < 300)
        // Those that are there stay.
        #expect((1000...1010).allSatisfy { keeper.isTrusted(ItemID($0)) })
    }

    @PlayerLoop private static func keeper(_ subject: Subject) -> ArtworkKeeper {
        ArtworkKeeper(
            ArtworkKeeper.Parts(
                subject: subject, loop: EventLoop.current, workers: Workers(EventLoop.current, name: "artwork"),
                rules: ArtworkSearch.Rules(), cache: nil, certificates: nil,
                settings: LiveConfiguration(Configuration()), log: { _ in }))
    }

    private static func client(foreign: Bool) -> ClientIdentity {
        ClientIdentity(number: 1, name: "test", pid: 1, uid: 1, role: .control, isForeign: foreign)
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

    /// Items that there are.
    var present = Int64.min...Int64.max

    func show(_ item: Int64?) {
        state.item = item.map {
            NowPlayingItem(id: ItemID($0), play: 1, uri: "", metadata: MediaMetadata(), duration: nil)
        }
    }

    func entry(of item: ItemID) -> QueueEntry? {
        guard present.contains(item.number) else { return nil }
        var given = MediaMetadata()
        given.animatedArtwork = film.map { ["1:1": $0] }
        return FilePath(Array("/nowhere/\(item.number).wav".utf8)).map {
            QueueEntry(id: item, source: .file($0), details: ItemDetails(given: given))
        }
    }

    func artworkFound(for item: ItemID) { onFound() }
}
