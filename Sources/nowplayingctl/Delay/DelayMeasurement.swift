import CLinux
import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient

extension DelayMeasurement {
    /// The measurement of an output's delay.
    static let verbs = [
        Verb(
            name: "measure-delay", summary: "measure the delay of an output by a microphone",
            details: """
                Plays five clicks on the daemon's output, records them by a microphone of this user's sound server, and
                compares them with the clock. Music pauses for five seconds. Hold the microphone where people listen: a metre
                of air is 3 ms. Televisions, Bluetooth and AirPlay speakers add latency that the sound server does not report.
                """,
            options: [
                Option(
                    "--source", value: "SOURCE",
                    "record from this source (pactl list short sources); default: the server's"),
                Option("--set", "set the delay of the output to the measured one"),
            ],
            examples: [
                ("measure-delay", "measure, and print the command that sets the delay"),
                ("measure-delay --set", "measure and set"),
            ], run: DelayMeasurement.run)
    ]
}

/// `measure-delay`.
struct DelayMeasurement {
    /// Result of a measurement.
    struct Outcome: Equatable {
        /// Seconds from the time of a click by the clock to its sound.
        var later: Double
        /// Seconds between the smallest and the largest delay of the clicks that count.
        var spread: Double
        /// Number of clicks that count.
        var clicks: Int
    }

    /// Range of the measurable delay in seconds.
    private static let range = -0.5...4.0
    /// Least height over the noise of a click that counts. Noise alone reaches 5.
    private static let leastHeight: Float = 8
    /// Maximum seconds between the delay of a click that counts and the median delay.
    private static let agreement = 0.003
    private static let leastClicks = 3
    private static let session = "measure-delay"

    /// Measures, and prints or sets the delay.
    static func run(_ run: Invocation) throws(Failure) {
        if run.value("--source") == nil { try refuseMonitor(Program.output(of: ["pactl", "get-default-source"])) }
        let recorder: PulseRecorder
        do throws(PulseRecorder.Problem) {
            recorder = try PulseRecorder(source: run.value("--source"))
        } catch { throw Failure(.noDevice, TerminalText.safe(error.message)) }
        let played = try play(run, recorder)
        guard let beginning = recorder.beginning else {
            throw Failure(.general, "the sound server gave no times of the recording")
        }
        guard let outcome = outcome(recorder.frames, begun: beginning, played: played.start) else {
            throw Failure(
                .general,
                "the microphone did not hear the clicks; turn the output up, or name another one with --source")
        }
        try report(run, outcome, played.output)
    }

    /// Refuses a monitor of an output, which records no sound from the air. It is the default of a machine without a
    /// microphone.
    static func refuseMonitor(_ source: String) throws(Failure) {
        guard source.hasSuffix(".monitor") else { return }
        throw Failure(
            .noDevice,
            "there is no microphone: the default source \(TerminalText.safe(source)) records the output itself; "
                + "connect one, or name one with --source (pactl list short sources)")
    }

    private static func report(_ run: Invocation, _ outcome: Outcome, _ output: JSONValue?) throws(Failure) {
        let name = output?["name"]?.stringValue ?? ""
        let present = output?["delay"]?.doubleValue ?? 0
        let proposed = max(0, min(10, ((present + outcome.later) * 1000).rounded() / 1000))
        let sets = run.has("--set")
        if sets { _ = try run.call("output.delay.set", ["name": .string(name), "delay": .number(proposed)]) }
        if run.wantsJSON {
            return run.printJSON([
                "output": .string(name), "delay": .number(present), "later": .number(outcome.later),
                "spread": .number(outcome.spread), "clicks": .integer(Int64(outcome.clicks)),
                "proposed": .number(proposed), "set": .bool(sets),
            ])
        }
        let shown = TerminalText.safe(name)
        run.output.line(
            "\(shown) is heard \(milliseconds(abs(outcome.later))) ms \(outcome.later < 0 ? "earlier" : "later") than the clock says "
                + "(\(outcome.clicks) of \(ClickSignal.starts.count) clicks, within \(milliseconds(outcome.spread)) ms)."
        )
        if sets {
            run.output.line("Its delay is now \(ClockText.number(proposed, places: 3)) s.")
        } else if proposed == present {
            run.output.line("Its delay of \(ClockText.number(present, places: 3)) s is right.")
        } else {
            run.output.line(
                "Set its delay: nowplayingctl output \(Completion.quoted(shown)) --delay \(ClockText.number(proposed, places: 3))"
            )
        }
    }

    private static func milliseconds(_ seconds: Double) -> String {
        ClockText.number((seconds * 10_000).rounded() / 10, places: 1)
    }

    // MARK: Playing and recording

    /// A played sound.
    private struct Played {
        /// Instant of the start by the clock, in seconds of CLOCK_MONOTONIC.
        var start: Double
        /// The output in the state's form.
        var output: JSONValue?
    }

    /// Plays the clicks in a session of their own, and records.
    private static func play(_ run: Invocation, _ recorder: PulseRecorder) throws(Failure) -> Played {
        let file = linux_memory_file("nowplayingctl")
        guard file >= 0 else { throw Failure(.general, "memory: \(SystemText.error(errno))") }
        defer { close(file) }
        let bytes = ClickSignal().file
        guard write(file, bytes, bytes.count) == bytes.count else {
            throw Failure(.general, "memory: \(SystemText.error(errno))")
        }
        let reader = open("/proc/self/fd/\(file)", O_RDONLY | O_CLOEXEC)
        guard reader >= 0 else { throw Failure(.general, "memory: \(SystemText.error(errno))") }
        defer { close(reader) }
        _ = try run.call("session.create", ["name": .string(session), "publishes": false, "whileConnected": true])
        var anchor: PlaybackAnchor?
        var output: JSONValue?
        do {
            let follower = try Follower(run.connection(), paths: run.sockets, session: session)
            let item: JSONValue = ["descriptor": 0, "uri": "clicks.wav", "title": "Clicks"]
            _ = try run.call(
                "queue.add", ["items": [item], "play": true, "session": .string(session)], descriptors: [reader])
            let end = MonotonicTime.now.advanced(
                bySeconds: Invocation.patience + ClickSignal.seconds + range.upperBound)
            var last: MonotonicTime?
            while last.map({ MonotonicTime.now < $0 }) ?? true {
                try recorder.record()
                while case .state(let state) = try follower.next(deadline: .now) {
                    if let error = StatusText.error(state) { throw Failure(.general, error) }
                    if state.state == .playing, let found = state.anchor, found.rate > 0 {
                        anchor = found
                        output = state.json["output"]
                    }
                    guard last == nil, let anchor else { continue }
                    last = anchor.monotonic.advanced(
                        bySeconds: ClickSignal.seconds - anchor.elapsed + range.upperBound)
                }
                guard MonotonicTime.now < end else { break }
            }
        } catch let error as PulseRecorder.Problem {
            throw Failure(.noDevice, TerminalText.safe(error.message))
        } catch let error as ClientError {
            throw run.failure(error)
        } catch let error as Failure {
            throw error
        } catch { throw Failure(.general, "\(error)") }
        _ = try run.call("session.close", ["name": .string(session)])
        guard let anchor else {
            throw Failure(.noDevice, "the daemon did not play the clicks; see: nowplayingctl doctor")
        }
        let start = Double(anchor.monotonic.nanoseconds) / 1e9 - anchor.elapsed / (anchor.rate * (1 + anchor.skew))
        return Played(start: start, output: output)
    }

    // MARK: Computing

    /// The delay of a sound that began at `played` in a recording whose frame 0 is of `begun`, both in seconds of
    /// CLOCK_MONOTONIC. Nil: too few clicks are louder than the noise and agree.
    static func outcome(_ recording: [Float], begun: Double, played: Double) -> Outcome? {
        let rate = Double(ClickSignal.rate)
        let likeness = ClickSignal().likeness(in: recording)
        let expected = ClickSignal.starts.map { (played + $0 - begun) * rate }
        // All clicks together give the delay: a single click looks like every other one.
        let delays = Int(clamping: range.lowerBound * rate)...Int(clamping: range.upperBound * rate)
        let sums = delays.map { delay in
            expected.reduce(Float(0)) { sum, place in
                let index = Int(clamping: place.rounded()) + delay
                return likeness.indices.contains(index) ? sum + likeness[index] : sum
            }
        }
        guard let best = sums.indices.max(by: { sums[$0] < sums[$1] }), !likeness.isEmpty else { return nil }
        let delay = delays.lowerBound + best
        let noise = (likeness.reduce(Float(0)) { $0 + $1 * $1 } / Float(likeness.count)).squareRoot()
        let reach = Int(clamping: agreement * rate)
        var found: [Double] = []
        for place in expected {
            let middle = Int(clamping: place.rounded()) + delay
            guard let summit = ClickSignal.summit(of: likeness, in: middle - reach..<middle + reach + 1),
                noise > 0, summit.height >= leastHeight * noise
            else { continue }
            found.append((summit.index - place) / rate)
        }
        guard found.count >= leastClicks else { return nil }
        found.sort()
        return Outcome(later: found[found.count / 2], spread: found[found.count - 1] - found[0], clicks: found.count)
    }
}
