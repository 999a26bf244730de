import AudioCore
import LinuxSystem

/// The silence of a late source. Distinguishes a process that reads a large file from one that hangs or loops. Used only on the
/// decode thread.
final class SourceSilence {
    /// Nanoseconds that the process had computed at the first look of this silence, and at the last; nil: no silence.
    private var computed: (first: Int64, last: Int64)?

    /// Looks before a wait.
    func note(_ decoder: any LateDecoder) {
        let now = decoder.process.map(ChildProcess.processorTime(of:)) ?? 0
        computed = (computed?.first ?? now, now)
    }

    /// True if the process of a silent decoder computes: it reads a large file. One that has computed for as long as it may
    /// be silent runs in a circle.
    func isComputing(_ decoder: any LateDecoder) -> Bool {
        guard let computed, let process = decoder.process else { return false }
        let now = ChildProcess.processorTime(of: process)
        return now > computed.last && Double(now - computed.first) < decoder.patience * 1e9
    }

    /// The source delivered something, or is given up.
    func end() { computed = nil }
}
