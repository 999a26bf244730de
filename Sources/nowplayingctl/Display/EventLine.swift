import NowPlaying
import NowPlayingClient

/// A key event as one line.
enum EventLine {
    /// `track      playing  0:00 / 9:22  Miles Davis – So What`
    static func text(_ state: StateView, _ output: Output) -> String {
        var parts = [padded(state.cause, 12) + output.styled(padded(state.stateName, 8), color(state))]
        if let position = state.position(at: MonotonicTime.now) {
            parts.append(StatusText.clock(position, state.duration))
        }
        parts.append(subject(state))
        return parts.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    /// Subject of the event.
    private static func subject(_ state: StateView) -> String {
        switch state.cause {
        case "volume": "volume " + StatusText.volume(state)
        case "queue": state.queueCount == 1 ? "1 item" : "\(state.queueCount) items"
        case "stall": StatusText.stall(state.stallReason)
        case "error": StatusText.error(state) ?? ""
        case "pending": StatusText.pending(state, at: MonotonicTime.now) ?? ""
        case "interruption-began": StatusText.interruption(state) ?? ""
        case "route": route(state)
        case "chapter": StatusText.chapter(state) ?? ""
        case "ad-began": StatusText.advertisement(state) ?? ""
        case "outputs": state.text("output", "description") ?? state.text("output", "name") ?? "no output"
        default:
            [StatusText.name(state), state.reason.map { "(\($0))" }].compactMap { $0 }.joined(separator: " ")
        }
    }

    /// `Headphones → Speaker (deviceGone)`, by the names of the devices.
    private static func route(_ state: StateView) -> String {
        let names = ["from", "to"].map { state.text("route", $0) ?? "no output" }
        return names.joined(separator: " → ") + (state.reason.map { " (\($0))" } ?? "")
    }

    private static func color(_ state: StateView) -> Output.Style { state.state == .playing ? .green : .yellow }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
