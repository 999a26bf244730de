import BridgeRuntime
import LinuxSystem
import MPDProtocol
import NowPlaying

/// Judges passwords, those of one source one after the other: the next one waits until the wrong one before it is answered.
@PlayerLoop final class PasswordGate {
    private let loop: EventLoop
    private let log: BridgeLog
    private var guesses = GuessCounter()
    private var rate = LogRate()
    private var delayed: [PeerSource: Delay] = [:]

    /// A wrong password whose answer waits, and the passwords behind it.
    private struct Delay {
        let end: MonotonicTime
        let timer: EventSource
        var waiting: [@PlayerLoop () -> Void] = []
    }

    /// Maximum passwords of one source that wait.
    private static let mostWaiting = 4

    /// A gate without passwords. The log gets a line for some of the wrong ones.
    init(_ loop: EventLoop, _ log: BridgeLog) {
        self.loop = loop
        self.log = log
    }

    /// Judges a password of a source. `rights`: the rights of the password at the time of the judgement; nil: it is wrong.
    /// `done` gets the rights, or the failure.
    func judge(
        _ source: PeerSource, _ rights: @escaping @PlayerLoop () -> Permissions?,
        _ done: @escaping @PlayerLoop (Result<Permissions, MPDFailure>) -> Void
    ) {
        if let delay = delayed[source] {
            guard delay.waiting.count < Self.mostWaiting else {
                let seconds = max(1, Int(clamping: delay.end.seconds(since: EventLoop.now).rounded(.up)))
                return done(
                    .failure(MPDFailure(.password, "too many wrong passwords: try again in \(seconds) seconds")))
            }
            delayed[source]?.waiting.append { [weak self] in self?.judge(source, rights, done) }
            return
        }
        if let rights = rights() { return done(.success(rights)) }
        let now = EventLoop.now
        let (seconds, count) = guesses.note(source.text, at: now)
        // The log has the first guess of a source, and then fewer and fewer.
        if count & (count - 1) == 0,
            let line = rate.line("wrong password from \(source.text) (\(count) so far)", at: now)
        {
            log.warning(line, .wrongGuess)
        }
        let end = now.advanced(bySeconds: seconds)
        let timer = loop.deadline(end) { [weak self] in
            let waiting = self?.delayed.removeValue(forKey: source)?.waiting ?? []
            done(.failure(MPDFailure(.password, "incorrect password")))
            // The first of them may be wrong too: the others then wait again.
            for judge in waiting { judge() }
        }
        delayed[source] = Delay(end: end, timer: timer)
    }
}
