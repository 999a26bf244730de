/// Deviation of a stretcher's output from the straight line of its rate, and the speed that corrects it. A pure value.
///
/// A step is seen as output that appears; the input that it used is what is fed until the next step. Within a step the place
/// that is heard moves evenly; but a step that puts out more than it used has played a period and then repeats it, staying
/// where it is.
struct RateLine: Equatable {
    /// Frames in per frame out.
    let rate: Double
    private let sampleRate: Double
    /// Frames fed since the last step.
    private var sinceStep = 0
    /// Frames that the last step put out; 0 before the first.
    private var lastOutput = 0
    /// Frames in less rate × frames out, where the last step began.
    private(set) var offset = 0.0
    /// The same as a running mean over what is heard.
    private(set) var mean = 0.0
    /// Frames that the mean is over, as far as its memory reaches.
    private var measured = 0.0
    /// Constant correction of the speed, as libsonic always rounds in the same direction.
    private var bias = 0.0

    /// Seconds of output over which the mean runs, and in which it is brought back.
    private static let memory = 0.5
    /// Seconds by which what is heard of a step lags behind its line, per rate beyond 1 (measured with tones: 0.5 ms at 1.5,
    /// 2.5 ms at 3); the mean is kept so far ahead.
    private static let lag = 0.0008

    /// A line that begins with nothing fed. `sampleRate`: frames a second.
    init(rate: Double, sampleRate: Int) {
        self.rate = rate
        self.sampleRate = Double(sampleRate)
    }

    /// So many frames were fed and so many came out of that. Returns the speed to continue with, when it should be another.
    mutating func fed(_ frames: Int, output: Int) -> Double? {
        sinceStep += frames
        guard output > 0 else { return nil }
        defer {
            sinceStep = 0
            lastOutput = output
        }
        // The first one comes when the look-ahead is full: it has used nothing yet.
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

    /// In the beginning it is the mean of all there is: what has not been heard must not weigh.
    private mutating func take(_ value: Double, over frames: Double) {
        guard frames > 0 else { return }
        measured = min(measured + frames, Self.memory * sampleRate)
        mean += (value - mean) * min(1, frames / measured)
    }
}
