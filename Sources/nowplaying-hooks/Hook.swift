import BridgeRuntime
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import NowPlayingClient

/// One program of hooks. It runs once at a time. While it runs, the newest occasion for each of its lists of arguments
/// waits.
@PlayerLoop final class Hook {
    /// Its identity: the path of the program.
    let path: String
    /// The account of all runs with one list of arguments.
    struct Record {
        /// The end of the last run; nil: none has ended yet.
        var last: HookResult?
        /// Runs that were started.
        var runs = 0
    }
    private var records: [[String]: Record] = [:]
    var isRunning: Bool { run != nil }

    private let loop: EventLoop
    private let log: BridgeLog
    private var run: HookRun?
    private var waiting = WaitingRuns<HookOccasion>()
    /// The last reason for a refusal. The same reason is logged once and not at each event.
    private var refusal: String?

    /// A hook with the program at this path. The first run checks the file.
    init(_ path: String, _ loop: EventLoop, _ log: BridgeLog) {
        self.path = path
        self.loop = loop
        self.log = log
    }

    /// The last part of the path.
    var name: String { String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]) }

    /// The account of the runs with these arguments.
    func record(_ arguments: [String]) -> Record { records[arguments] ?? Record() }

    /// Runs it now, or after the present run and the runs that wait. `timeout`: seconds that the run may take.
    func fire(_ occasion: HookOccasion, _ arguments: [String], timeout: Double) {
        guard run == nil else { return waiting.add(occasion, arguments) { $1.replacing($0) } }
        begin(occasion, arguments, timeout) { [unowned self] _ in fireNext(timeout) }
    }

    /// Runs it once and passes the result to `done`. False: it is already running.
    func test(
        _ occasion: HookOccasion, _ arguments: [String], timeout: Double,
        _ done: @escaping @PlayerLoop (HookResult) -> Void
    ) -> Bool {
        guard run == nil else { return false }
        begin(occasion, arguments, timeout) { [unowned self] result in
            done(result)
            fireNext(timeout)
        }
        return true
    }

    private func fireNext(_ timeout: Double) {
        guard let next = waiting.next() else { return }
        fire(next.occasion, next.arguments, timeout: timeout)
    }

    /// Kills its process group and drops the runs that wait.
    func end() {
        waiting.removeAll()
        run?.abandon()
        run = nil
    }

    private func begin(
        _ occasion: HookOccasion, _ arguments: [String], _ timeout: Double,
        _ done: @escaping @PlayerLoop (HookResult) -> Void
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
            return done(refuse(error.reason, occasion, arguments))
        }
        refusal = nil
        records[arguments, default: Record()].runs += 1
        run = HookRun(process, occasion.event, loop, timeout: timeout) { [unowned self] result in
            run = nil
            records[arguments, default: Record()].last = result
            report(result)
            done(result)
        }
    }

    private func refuse(_ reason: String, _ occasion: HookOccasion, _ arguments: [String]) -> HookResult {
        let result = HookResult(
            event: occasion.event, wall: HookRun.wall, seconds: 0, end: .refused(reason), output: [])
        records[arguments, default: Record()].last = result
        if refusal != reason { log.warning("the hook \(path) does not run: \(reason)", .hookFailed) }
        refusal = reason
        return result
    }

    private func report(_ result: HookResult) {
        let lines = String(decoding: result.output, as: UTF8.self).split(whereSeparator: \.isNewline)
        for line in lines.suffix(20) { log.info("\(name): \(line)") }
        if !result.isSuccess { log.warning("the hook \(path) \(result.words) (\(result.event))", .hookFailed) }
    }
}
