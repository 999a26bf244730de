import LinuxSystem
import NowPlaying

/// A held seek button: play runs faster and faster, forward or backward. Each change of speed is one deadline, and a `rate`
/// event when it is audible.
@PlayerLoop final class Scanner {
    /// A held button.
    private struct Scan {
        var isForward: Bool
        /// Index of its speed.
        var step = 0
        /// Chosen rate before the scan.
        var before: Double?
        /// Connection that holds the button.
        var owner: Int
        var by: Originator

        /// Seconds of the item per second.
        var rate: Double { (isForward ? 1 : -1) * Scanner.speeds[step] }
    }

    private unowned let player: Player
    private var scan: Scan?
    private var deadline: EventSource?

    /// Speeds, and the seconds until the next one.
    private nonisolated static let speeds = [2.0, 4.0, 8.0]
    private static let stepSeconds = 2.0

    /// No button is held.
    init(_ player: Player) { self.player = player }

    /// True while a button is held.
    var isActive: Bool { scan != nil }
    /// Direction of the held button; nil: none.
    var isForward: Bool? { scan?.isForward }
    /// Chosen rate after the scan.
    var chosenRate: Double? { scan.map(\.before) ?? player.transport.chosenRate }

    /// Presses the button. It is released when the connection `owner` ends. `answer` as for `Player.perform`.
    func begin(
        forward isForward: Bool, owner: Int, by: Originator,
        _ answer: @escaping @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void
    ) {
        if let scan, scan.isForward == isForward {
            return answer(.success(CommandOutcome(state: player.state, isSuperseded: false)))
        }
        guard player.transport.wish == .playing else {
            // A scan is audible, so play comes first.
            return player.perform(.play(position: nil), by: by) { [weak self] result in
                guard let self, case .success = result, player.transport.wish == .playing else {
                    return answer(result)
                }
                begin(forward: isForward, owner: owner, by: by, answer)
            }
        }
        scan = Scan(isForward: isForward, before: chosenRate, owner: owner, by: by)
        takeStep(Waiter(by: by, answer: answer))
    }

    private func takeStep(_ waiter: Waiter?) {
        guard let scan else { return }
        player.decide { $0.chooseRate(scan.rate) }
        player.changeRate(by: scan.by, waiter)
        deadline = nil
        guard scan.step + 1 < Self.speeds.count else { return }
        deadline = player.loop.deadline(EventLoop.now.advanced(bySeconds: Self.stepSeconds)) { [unowned self] in
            deadline = nil
            self.scan?.step += 1
            takeStep(nil)
        }
    }

    /// Releases the button: play continues from here as before. `answer` as for `Player.perform`.
    func end(
        by: Originator?, _ answer: (@PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void)? = nil
    ) {
        let waiter = answer.flatMap { answer in by.map { Waiter(by: $0, answer: answer) } }
        guard cancel() else {
            if let waiter { player.answer([waiter]) }
            return
        }
        player.changeRate(by: by, waiter, cause: .seek)
    }

    /// Releases the button of a connection that ended.
    func connectionEnded(_ connection: Int, by: Originator) {
        if scan?.owner == connection { end(by: by) }
    }

    /// Ends the scan by another command.
    func overtake(_ command: PlayerCommand) {
        switch command {
        case .mode: return
        case .play(nil):
            // Play resumes at the item's own rate; the command itself drops the other one.
            scan = nil
            deadline = nil
        case .play, .playItem, .playQueue, .pause, .stop, .togglePlayPause, .nextTrack, .previousTrack, .skip,
            .skipChapter, .seek, .changeRate:
            cancel()
        }
    }

    /// Drops the button, as another command came. False: none was held.
    @discardableResult
    func cancel() -> Bool {
        guard let scan else { return false }
        self.scan = nil
        deadline = nil
        player.decide { $0.chooseRate(scan.before) }
        return true
    }

    /// Handles a backward scan that reached the beginning of the item: it plays from there. False: no scan.
    func reachedBeginning() -> Bool {
        guard let scan, !scan.isForward, let current = player.transport.current else { return false }
        cancel()
        player.start(current, at: 0, .seek, nil, by: scan.by, nil, media: 0)
        return true
    }

    /// Ends the deadline; for the end of the process.
    func shutDown() { deadline = nil }
}
