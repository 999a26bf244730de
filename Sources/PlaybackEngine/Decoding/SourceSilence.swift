import AudioCore
import LinuxSystem

/// The silence of a late source. Distinguishes a process that reads a large file from one that hangs or loops. Used only on the
/// decode thread.
final class SourceSilence {
    /// Processor time of the process in nanoseconds at the first check of this silence, and at the last; nil: no
    /// silence.
    private var computed: (first: Int64, last: Int64)?

    /// Checks the process before a wait.
    func note(_ decoder: any LateDecoder) {
        let now = decoder.process.map(ChildProcess.processorTime(of:)) ?? 0
        computed = (computed?.first ?? now, now)
    }

    /// True if the process of a silent decoder computes, as it reads a large file. A process that has computed for the
    /// longest allowed silence is in an endless loop.
    func isComputing(_ decoder: any LateDecoder) -> Bool {
        guard let computed, let process = decoder.process else { return false }
        let now = ChildProcess.processorTime(of: process)
        return now > computed.last && Double(now - computed.first) < decoder.patience * 1e9
    }

    /// Ends the silence: the source has delivered something, or is given up.
    func end() { computed = nil }
}
