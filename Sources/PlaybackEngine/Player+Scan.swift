import LinuxSystem
package import NowPlaying

/// A seek button that is held down: what is heard goes on faster and faster, forward or backward. Each change of speed is one
/// deadline, and a `rate` event when it is audible.
extension Player {
    /// A button that is held down.
    struct Scan {
        var isForward: Bool
        /// Which of the speeds it has.
        var step = 0
        /// Rate that was asked for before.
        var before: Double?
        /// The connection of who holds it.
        var owner: Int
        var by: Originator

        /// Seconds of the item per second.
        var rate: Double { (isForward ? 1 : -1) * Player.scanSpeeds[step] }
    }

    /// Speeds, and the seconds after which the next one comes.
    private nonisolated static let scanSpeeds = [2.0, 4.0, 8.0]
    private static let scanStep = 2.0

    /// The button goes down. `owner`: the connection with whose end it comes up. `answer` as for `perform`.
    package func beginScan(
        forward isForward: Bool, owner: Int, by: Originator,
        _ answer: @escaping @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void
    ) {
        if let scan, scan.isForward == isForward {
            return answer(.success(CommandOutcome(state: state, isSuperseded: false)))
        }
        guard transport.wish == .playing else {
            // What is scanned through is heard.
            return perform(.play(position: nil), by: by) { [weak self] result in
                guard let self, case .success = result, transport.wish == .playing else { return answer(result) }
                beginScan(forward: isForward, owner: owner, by: by, answer)
            }
        }
        let before = scan.map(\.before) ?? transport.chosenRate
        scan = Scan(isForward: isForward, before: before, owner: owner, by: by)
        goOnScanning(Waiter(by: by, answer: answer))
    }

    private func goOnScanning(_ waiter: Waiter?) {
        guard let scan else { return }
        transport.chooseRate(scan.rate)
        changeRate(by: scan.by, waiter)
        scanDeadline = nil
        guard scan.step + 1 < Player.scanSpeeds.count else { return }
        scanDeadline = loop.deadline(EventLoop.now.advanced(bySeconds: Player.scanStep)) { [unowned self] in
            scanDeadline = nil
            self.scan?.step += 1
            goOnScanning(nil)
        }
    }

    /// The button comes up: play goes on from here as before. `answer` as for `perform`.
    package func endScan(
        by: Originator?, _ answer: (@PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void)? = nil
    ) {
        let waiter = answer.flatMap { answer in by.map { Waiter(by: $0, answer: answer) } }
        guard forgetScan() else {
            if let waiter { self.answer([waiter]) }
            return
        }
        changeRate(by: by, waiter, cause: .seek)
    }

    /// Whoever held the button is gone.
    package func connectionEnded(_ connection: Int, by: Originator) {
        if scan?.owner == connection { endScan(by: by) }
    }

    /// The button does not count any more: something else was asked for. False: none was down.
    @discardableResult
    func forgetScan() -> Bool {
        guard let scan else { return false }
        self.scan = nil
        scanDeadline = nil
        transport.chooseRate(scan.before)
        return true
    }

    /// The beginning of the item was reached backward: it plays from there. False: nothing was scanned.
    func scanReachedBeginning() -> Bool {
        guard let scan, !scan.isForward, let current = transport.current else { return false }
        forgetScan()
        start(current, at: 0, .seek, nil, by: scan.by, nil, media: 0)
        return true
    }
}
