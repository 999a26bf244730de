import LinuxSystem
import MPDProtocol
import NowPlaying

/// Answers wrong passwords later: guesses take their time.
@PlayerLoop final class WrongPasswords {
    private let loop: EventLoop
    /// Answers that wait, by the numbers of their passwords.
    private var waiting: [Int: EventSource] = [:]
    private var lastNumber = 0

    /// Nobody has guessed yet.
    init(_ loop: EventLoop) { self.loop = loop }

    /// Refuses a password: the later, the more refusals wait.
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
