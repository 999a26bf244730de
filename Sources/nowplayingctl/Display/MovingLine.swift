import NowPlaying
import NowPlayingClient

/// The line at the bottom of a terminal that shows the position.
enum MovingLine {
    /// The line for this state at `time`, with at most `columns` columns.
    static func text(_ state: StateView, at time: MonotonicTime, columns: Int, isUnicode: Bool) -> String {
        var text = state.stateName
        guard let position = state.position(at: time) else { return TerminalText.fitted(text, columns: columns) }
        text += "  " + StatusText.clock(position, state.duration)
        if state.state == .stalled {
            text += "  " + StatusText.stall(state.stallReason)
        } else if let duration = state.duration, duration > 0 {
            let percent = "  \(Int(position / duration * 100)) %"
            let width = min(50, columns - text.count - percent.count - 4)
            if width >= 8 { text += "  " + bar(position / duration, width: width, isUnicode: isUnicode) }
            text += percent
        }
        return TerminalText.fitted(text, columns: columns)
    }

    /// A bar of `width` columns, of which the part `fraction` is full.
    static func bar(_ fraction: Double, width: Int, isUnicode: Bool) -> String {
        let done = Int(clamping: (fraction * Double(width)).rounded())
        return String(repeating: isUnicode ? "━" : "=", count: done)
            + String(repeating: isUnicode ? "─" : "-", count: width - done)
    }
}
