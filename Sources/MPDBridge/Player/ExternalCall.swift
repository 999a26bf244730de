import ControlProtocol
import MPDProtocol

/// Treatment of a call while another player, such as AirPlay, has the session. Otherwise the daemon would apply some calls
/// to its own queue, which clients do not see then.
enum ExternalCall {
    /// The daemon passes the call on to the player.
    case asIs
    /// Another method has the same effect there.
    case other(String)
    case refused(MPDFailure)
    /// The answer is the single item.
    case list

    /// Judges a method, and removes parameters that name the single item.
    init(_ method: String, _ parameters: inout JSONObject) {
        switch method {
        case "queue.list": self = .list
        case "queue.add", "queue.remove", "queue.move", "queue.clear", "queue.shuffle", "queue.prioritize",
            "item.update":
            self = .refused(MPDFailure(.unknown, "another player is active: its queue cannot be changed"))
        case "volume.set", "loudness.set", "crossfade.set":
            self = .refused(MPDFailure(.system, "another player is active: its sound cannot be changed"))
        case "play":
            parameters["itemId"] = nil
            self = parameters["position"] == nil ? .asIs : .other("changePlaybackPosition")
        case _: self = .asIs
        }
    }
}

/// Methods of the daemon with the parameter `session`.
enum SessionMethods {
    private static let families = ["queue.", "nowPlaying.", "item.", "volume.", "loudness.", "crossfade.", "sleep."]
    private static let commands: Set<String> = [
        "play", "pause", "stop", "togglePlayPause", "nextTrack", "previousTrack", "changePlaybackPosition",
        "changeRepeatMode", "changeShuffleMode", "changeConsumeMode", "changeSingleMode", "feedback.get",
        "feedback.set",
    ]

    /// True if the method has the parameter `session`.
    static func contains(_ method: String) -> Bool {
        commands.contains(method) || families.contains { method.hasPrefix($0) }
    }
}
