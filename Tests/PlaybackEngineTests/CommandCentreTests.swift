import NowPlaying
import Testing

@testable import PlaybackEngine

/// Status of the remote commands in every situation.
@Suite struct CommandCentreTests {
    private static let situations: [(name: String, situation: CommandCentre.Situation)] = [
        ("empty", CommandCentre.Situation(queueIsEmpty: true, hasItem: false)),
        ("ended", CommandCentre.Situation(queueIsEmpty: false, hasItem: false)),
        ("plays", CommandCentre.Situation(queueIsEmpty: false, hasItem: true)),
        (
            "advertisement",
            CommandCentre.Situation(queueIsEmpty: false, hasItem: true, seekObstacle: .advertisement)
        ),
        ("unseekable", CommandCentre.Situation(queueIsEmpty: false, hasItem: true, seekObstacle: .notSeekable)),
        (
            "live",
            CommandCentre.Situation(
                queueIsEmpty: false, hasItem: true, seekObstacle: .liveStream, isLive: true)
        ),
    ]

    /// One line per command, one column per situation in the order above: `+` or the obstacle.
    private static let table = """
        play                   | empty queue | +               | + | +             | +            | +
        pause                  | empty queue | +               | + | +             | +            | +
        stop                   | empty queue | +               | + | +             | +            | +
        togglePlayPause        | empty queue | +               | + | +             | +            | +
        nextTrack              | empty queue | +               | + | +             | +            | +
        previousTrack          | empty queue | +               | + | +             | +            | +
        skipForward            | empty queue | no current item | + | advertisement | not seekable | live stream
        skipBackward           | empty queue | no current item | + | advertisement | not seekable | live stream
        seekForward            | empty queue | no current item | + | advertisement | not seekable | live stream
        seekBackward           | empty queue | no current item | + | advertisement | not seekable | live stream
        changePlaybackPosition | empty queue | no current item | + | advertisement | not seekable | live stream
        changePlaybackRate     | empty queue | no current item | + | advertisement | +            | live stream
        changeRepeatMode       | +           | +               | + | +             | +            | +
        changeShuffleMode      | +           | +               | + | +             | +            | +
        changeConsumeMode      | +           | +               | + | +             | +            | +
        changeSingleMode       | +           | +               | + | +             | +            | +
        rating                 | empty queue | no current item | + | +             | +            | +
        like                   | empty queue | no current item | + | +             | +            | +
        dislike                | empty queue | no current item | + | +             | +            | +
        bookmark               | empty queue | no current item | + | +             | not seekable | live stream
        """

    private static let expected: [(command: RemoteCommand, cells: [String])] = table.split(separator: "\n").compactMap {
        let cells = $0.split(separator: "|").map { cell in
            String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        return RemoteCommand(rawValue: cells[0]).map { ($0, Array(cells.dropFirst())) }
    }

    private let centre = CommandCentre(forwardIntervals: [15, 30], backwardIntervals: [10])

    @Test("each command in each situation") func table() {
        #expect(Self.expected.map(\.command) == RemoteCommand.allCases)
        for (column, situation) in Self.situations.enumerated() {
            let statuses = centre.statuses(of: situation.situation)
            for (row, status) in statuses.enumerated() {
                let cell = status.isEnabled ? "+" : status.reason ?? "no reason"
                #expect(cell == Self.expected[row].cells[column], "\(status.command) in \(situation.name)")
            }
        }
    }

    @Test("a client's disabling applies on top, with its reason, and does not hide an obstacle")
    func disabled() {
        for command in RemoteCommand.allCases {
            for words in [nil, "bedtime"] {
                var changed = centre
                changed.configure(command, .init(isEnabled: false, reason: words), forConnection: 7)
                for (column, situation) in Self.situations.enumerated() {
                    for (row, status) in changed.statuses(of: situation.situation).enumerated() {
                        let own = Self.expected[row].cells[column]
                        let cell = status.isEnabled ? "+" : status.reason ?? "no reason"
                        let wanted = status.command == command && own == "+" ? words ?? "turned off by a client" : own
                        #expect(cell == wanted, "\(status.command) in \(situation.name)")
                    }
                }
                #expect(changed.disabling(of: command).isDisabled)
                let isGivenBack = changed.connectionEnded(7)
                let isGivenBackTwice = changed.connectionEnded(7)
                #expect(isGivenBack && !isGivenBackTwice)
                #expect(changed == centre)
            }
        }
    }

    @Test("settings of a connection end with it; lasting settings stay") func layers() {
        var changed = centre
        changed.configure(.skipForward, .init(preferredIntervals: [60]), forConnection: nil)
        changed.configure(.skipForward, .init(preferredIntervals: [5]), forConnection: 1)
        changed.configure(.nextTrack, .init(isEnabled: false, reason: "mine"), forConnection: 2)
        #expect(changed.interval(forward: true, for: .audio) == 5)
        let isGivenBack = changed.connectionEnded(1)
        #expect(isGivenBack)
        #expect(changed.interval(forward: true, for: .audio) == 60)
        #expect(changed.disabling(of: .nextTrack).reason == "mine")
        _ = changed.connectionEnded(2)
        #expect(!changed.disabling(of: .nextTrack).isDisabled)
        #expect(changed.lasting == [.skipForward: .init(preferredIntervals: [60])])
    }

    @Test("intervals by kind: a client's, else the kind's, else those of all kinds") func intervals() {
        var changed = centre
        var (podcast, audiobook) = (CommandCentre.KindIntervals(), CommandCentre.KindIntervals())
        podcast.forward = [30]
        audiobook.backward = [15]
        changed.setIntervals(forward: [15, 30], backward: [10], kinds: [.podcast: podcast, .audiobook: audiobook])
        #expect(changed.interval(forward: true, for: .podcast) == 30)
        #expect(changed.interval(forward: false, for: .podcast) == 10)
        #expect(changed.interval(forward: true, for: .audiobook) == 15)
        #expect(changed.interval(forward: false, for: .audiobook) == 15)
        changed.configure(.skipForward, .init(preferredIntervals: [7, 8]), forConnection: 1)
        #expect(changed.interval(forward: true, for: .podcast) == 7)
    }
}
