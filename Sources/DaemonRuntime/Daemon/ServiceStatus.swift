import ControlProtocol
package import LinuxSystem
package import NowPlaying

/// Text of the player for `systemctl status`. It is sent when it changes, which happens only at key events.
@PlayerLoop package final class ServiceStatus {
    private var shown = ""

    /// A status without a text yet.
    init() {}

    /// Sends the text for this state to the service manager, if there is one.
    func show(_ state: NowPlayingState) {
        let words = Self.words(state)
        guard words != shown else { return }
        shown = words
        ServiceManager.notify("STATUS=" + words)
    }

    /// One line for people, harmless in a terminal: `playing Miles Davis – So What (3 of 12)`.
    package nonisolated static func words(_ state: NowPlayingState) -> String {
        var text = state.state.rawValue
        if state.state == .stalled, let reason = state.stall { text += " (\(reason.rawValue))" }
        if let item = state.item {
            let title = item.metadata.title ?? item.uri
            text += " " + (item.metadata.artist.map { $0 + " – " } ?? "") + title
        }
        if let index = state.queueIndex {
            text += " (\(index + 1) of \(state.queueCount))"
        } else {
            text += state.queueCount == 0 ? ", the queue is empty" : ", \(state.queueCount) in the queue"
        }
        return PrintableText.escaped(text, limit: 300)
    }
}
