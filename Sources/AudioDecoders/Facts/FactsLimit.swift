import LinuxSystem
import NowPlaying

/// The limits of a child of the lowest priority that reads the facts of one file. Beside busy programs it gets hardly any
/// processor time, and that is no sign of a disk that hangs. One thread at a time.
struct FactsLimit {
    /// State of a child without an answer.
    enum State {
        /// It computes, or has not waited for long.
        case mayAnswer
        /// It waits for a disk that does not answer.
        case hangs
        /// It computed for too long.
        case isLost
    }

    /// Seconds between two checks of a silent child.
    static let slice = 0.5
    /// Seconds that a file may take while the child gets hardly any processor time.
    private static let most = 60.0

    private let process: Int32
    private let patience: Double
    private let began = EventLoop.now
    /// Processor time in nanoseconds at the beginning, and at the last change with its time.
    private let computedBefore: Int64
    private var computed: (amount: Int64, time: MonotonicTime)

    /// Begins now, for the process `process`. `patience`: limit in seconds of processor time, and in seconds without any.
    init(of process: Int32, patience: Double) {
        self.process = process
        self.patience = patience
        computedBefore = ChildProcess.processorTime(of: process)
        computed = (computedBefore, began)
    }

    /// Checks the child.
    mutating func check() -> State {
        let (amount, now) = (ChildProcess.processorTime(of: process), EventLoop.now)
        if amount != computed.amount { computed = (amount, now) }
        let seconds = Double(amount - computedBefore) / 1e9
        if seconds > patience || now.seconds(since: began) > Self.most { return .isLost }
        return now.seconds(since: computed.time) > patience ? .hangs : .mayAnswer
    }
}
