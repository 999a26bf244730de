import AudioCore
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// Conditions for the end of an idle daemon (idle-exit).
extension PlayerMethods {
    var isAtWork: Bool {
        switch player.state.state {
        case .playing, .stalled, .interrupted: true
        case .paused, .stopped: fade != nil || player.state.sleep != nil || player.isAnnouncing
        }
    }

    /// An output that a client chose is kept by nobody, nor is an open file that one handed over. Looks at every entry.
    var wouldLose: Bool {
        hasChosenOutput || player.queue.entries.contains { Self.isHandedOver($0.source) }
    }

    private static func isHandedOver(_ source: MediaSource) -> Bool {
        switch source {
        case .descriptor: true
        case .segment(let segment): isHandedOver(segment.audio)
        case .file, .confined, .remote, .handedOver: false
        }
    }
}
