import ControlProtocol
import MPDProtocol

/// Treatment of a call while another player, such as AirPlay, has the session: the daemon would carry some of them out in its
/// own queue, which clients do not see then.
enum ExternalCall {
    /// The daemon passes it on to the player.
    case asIs
    /// Another method does the same there.
    case other(String)
    case refused(MPDFailure)
    /// The answer is the one item.
    case list

    /// Judges a method, and takes out parameters that name the one item.
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

/// Methods of the daemon that take the name of a session.
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
