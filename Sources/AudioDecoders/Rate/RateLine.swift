/// Deviation of a stretcher's output from the straight line of its rate, and the speed that corrects it. A pure value.
///
/// Output that appears marks a step. The input of the step is the input fed until the next step. Within a step the
/// position of the output advances evenly. A step whose output is longer than its input plays a period and then repeats
/// it; during the repetition the position does not advance.
struct RateLine: Equatable {
    /// Frames in per frame out.
    let rate: Double
    private let sampleRate: Double
    /// Frames fed since the last step.
    private var sinceStep = 0
    /// Frames that the last step put out; 0 before the first.
    private var lastOutput = 0
    /// Deviation at the start of the last step: frames in, less rate × frames out.
    private(set) var offset = 0.0
    /// Running mean of the deviation over the output.
    private(set) var mean = 0.0
    /// Frames that the mean covers, at most `memory`.
    private var measured = 0.0
    /// Constant correction of the speed, as libsonic always rounds in the same direction.
    private var bias = 0.0

    /// Seconds of output over which the mean runs, and in which the correction removes it.
    private static let memory = 0.5
    /// Seconds by which the sound of a step lags behind its line, per unit of rate beyond 1 (measured with tones: 0.5
    /// ms at 1.5, 2.5 ms at 3). The correction keeps the mean ahead by as much.
    private static let lag = 0.0008

    /// A line before any input. `sampleRate`: frames a second.
    init(rate: Double, sampleRate: Int) {
        self.rate = rate
        self.sampleRate = Double(sampleRate)
    }

    /// Accounts for `frames` fed and the `output` frames that came out. Returns the new speed; nil: no change.
    mutating func fed(_ frames: Int, output: Int) -> Double? {
        sinceStep += frames
        guard output > 0 else { return nil }
        defer {
            sinceStep = 0
            lastOutput = output
        }
        // The first output comes when the look-ahead is full: its step has used no input yet.
        guard lastOutput > 0 else { return nil }
        account(used: Double(sinceStep), made: Double(lastOutput))
        let ahead = max(0, rate - 1) * Self.lag * sampleRate
        let pull = (mean - ahead) / (Self.memory * sampleRate)
        bias = max(-0.05, min(0.05, bias + 0.1 * pull * Double(lastOutput) / (Self.memory * sampleRate)))
        return rate - max(-0.1, min(0.1, pull)) - bias
    }

    private mutating func account(used: Double, made: Double) {
        let end = offset + used - rate * made
        if made > used {
            let period = min(made - used, made)
            let turn = offset + period - rate * period
            take((offset + turn) / 2, over: period)
            take((turn + end) / 2, over: made - period)
        } else {
            take((offset + end) / 2, over: made)
        }
        offset = end
    }

    /// At the start the mean covers only the output so far.
    private mutating func take(_ value: Double, over frames: Double) {
        guard frames > 0 else { return }
        measured = min(measured + frames, Self.memory * sampleRate)
        mean += (value - mean) * min(1, frames / measured)
    }
}
