import LinuxSystem
import MPDProtocol
import NowPlaying

/// Delays the answers to wrong passwords, which slows guessing.
@PlayerLoop final class WrongPasswords {
    private let loop: EventLoop
    /// Waiting answers, by number.
    private var waiting: [Int: EventSource] = [:]
    private var lastNumber = 0

    /// A delay without waiting answers.
    init(_ loop: EventLoop) { self.loop = loop }

    /// Refuses a password after a delay, which grows with the number of waiting refusals.
    func refuse(_ finish: @escaping Finish) {
        lastNumber += 1
        let number = lastNumber
        let seconds = min(2, 0.25 * Double(waiting.count + 1))
        waiting[number] = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [weak self] in
            self?.waiting[number] = nil
            finish(.failed(MPDFailure(.password, "incorrect password")))
        }
    }
}
