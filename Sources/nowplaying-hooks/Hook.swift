import BridgeRuntime
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import NowPlayingClient

/// One hook: it runs once at a time, and while it runs the newest occasion waits.
@PlayerLoop final class Hook {
    /// What it is called: its path.
    let path: String
    /// How its last run ended; nil: it has not run yet.
    private(set) var last: HookResult?
    /// How often it was run.
    private(set) var runs = 0
    var isRunning: Bool { run != nil }

    private let loop: EventLoop
    private let log: BridgeLog
    private var run: HookRun?
    private var pending: (occasion: HookOccasion, arguments: [String])?
    /// What was refused last, so that the same is not logged at each event.
    private var refusal: String?

    /// The program at this path; it is not looked at before the first run.
    init(_ path: String, _ loop: EventLoop, _ log: BridgeLog) {
        self.path = path
        self.loop = loop
        self.log = log
    }

    /// The last part of the path.
    var name: String { String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]) }

    /// Runs it now, or when the present run has ended.
    func fire(_ occasion: HookOccasion, _ arguments: [String], timeout: Double) {
        guard run == nil else {
            pending = (pending.map { occasion.replacing($0.occasion) } ?? occasion, arguments)
            return
        }
        begin(occasion, arguments, timeout) { [unowned self] in
            guard let next = pending else { return }
            pending = nil
            fire(next.occasion, next.arguments, timeout: timeout)
        }
    }

    /// Runs it once, and tells how it ended. Nil: it is running already.
    func test(
        _ occasion: HookOccasion, _ arguments: [String], timeout: Double,
        _ done: @escaping @PlayerLoop (HookResult) -> Void
    ) -> Bool {
        guard run == nil else { return false }
        begin(occasion, arguments, timeout) { [unowned self] in
            if let last { done(last) }
            guard let next = pending else { return }
            pending = nil
            fire(next.occasion, next.arguments, timeout: timeout)
        }
        return true
    }

    /// Ends it, whatever it does.
    func end() {
        pending = nil
        run?.abandon()
        run = nil
    }

    private func begin(
        _ occasion: HookOccasion, _ arguments: [String], _ timeout: Double, _ done: @escaping @PlayerLoop () -> Void
    ) {
        let environment = HookEnvironment.variables(occasion, at: EventLoop.now)
        let state = Array((TerminalText.escapedJSON(JSONWriter.text(occasion.state.json)) + "\n").utf8)
        let process: HookProcess
        do throws(HookFile.Refusal) {
            let file = try HookFile(path)
            do throws(HookProcess.Failure) {
                process = try HookProcess(file.resolved, arguments, environment: environment, input: state)
            } catch { throw HookFile.Refusal(reason: error.reason) }
        } catch {
            refuse(error.reason, occasion)
            return done()
        }
        refusal = nil
        runs += 1
        run = HookRun(process, occasion.event, loop, timeout: timeout) { [unowned self] result in
            run = nil
            last = result
            report(result)
            done()
        }
    }

    private func refuse(_ reason: String, _ occasion: HookOccasion) {
        last = HookResult(event: occasion.event, wall: HookRun.wall, seconds: 0, end: .refused(reason), output: [])
        guard refusal != reason else { return }
        refusal = reason
        log.warning("the hook \(path) is not run: \(reason)")
    }

    private func report(_ result: HookResult) {
        let lines = String(decoding: result.output, as: UTF8.self).split(whereSeparator: \.isNewline)
        for line in lines.suffix(20) { log.info("\(name): \(line)") }
        if !result.isSuccess { log.warning("the hook \(path) \(result.words) (\(result.event))") }
    }
}
