import ControlProtocol
import MPDProtocol
import NowPlayingClient

extension StateView {
    /// Subsystems of MPD in which this state differs from an earlier one, the queue aside.
    func changes(since old: StateView) -> SubsystemSet {
        var result: SubsystemSet = []
        func differs(_ names: String...) -> Bool { names.contains { json[$0] != old.json[$0] } }
        let player: Set<String> = [
            "play", "pause", "stop", "seek", "rate", "track", "stall", "unstall", "interruption-began",
            "interruption-ended", "error", "metadata", "session", "snapshot",
        ]
        if differs("state", "item", "error", "session", "stall") || causes.contains(where: player.contains) {
            result.formUnion(SubsystemSet(.player))
        }
        if differs("volume", "muted") { result.formUnion(SubsystemSet(.mixer)) }
        if differs("repeatMode", "shuffleMode", "consumeMode", "singleMode", "loudness", "crossfade") {
            result.formUnion(SubsystemSet(.options))
        }
        if json["output"]?["name"] != old.json["output"]?["name"] || causes.contains("outputs") {
            result.formUnion(SubsystemSet(.output))
        }
        if json["item"]?["feedback"] != old.json["item"]?["feedback"] || causes.contains("feedback") {
            result.formUnion(SubsystemSet(.sticker))
        }
        return result
    }
}

extension MPDFailure {
    /// A refusal of the daemon as MPD has it.
    init(refusal: RemoteFailure) {
        let code: AckCode =
            switch (refusal.code, refusal.reason) {
            case (403, _): .permission
            case (404, _), (100, _), (_, "noSuchFile"): .noExist
            case (-32602, _): .argument
            case (_, "queueFull"): .playlistMaximum
            case (110, _), (_, "notPlaying"): .playerSync
            case (_, _): .system
            }
        self.init(code, refusal.message)
    }
}
