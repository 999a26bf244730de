import ControlProtocol
import MPDProtocol
import NowPlayingClient

extension StateView {
    /// Subsystems of MPD in which this state differs from an earlier one, except the queue.
    func changes(since old: StateView) -> SubsystemSet {
        var result: SubsystemSet = []
        for cause in causes {
            if Self.playerCauses.contains(cause) { result.formUnion(SubsystemSet(.player)) }
            if cause == "outputs" { result.formUnion(SubsystemSet(.output)) }
            if cause == "feedback" { result.formUnion(SubsystemSet(.sticker)) }
        }
        for name in differences(from: old) {
            switch name {
            case "state", "error", "session", "stall": result.formUnion(SubsystemSet(.player))
            case "item":
                result.formUnion(SubsystemSet(.player))
                if item?["feedback"] != old.item?["feedback"] { result.formUnion(SubsystemSet(.sticker)) }
            case "volume", "muted": result.formUnion(SubsystemSet(.mixer))
            case "repeatMode", "shuffleMode", "consumeMode", "singleMode", "loudness", "crossfade":
                result.formUnion(SubsystemSet(.options))
            case "output":
                if json["output"]?["name"] != old.json["output"]?["name"] { result.formUnion(SubsystemSet(.output)) }
            case _: break
            }
        }
        return result
    }

    private static let playerCauses: Set<String> = [
        "play", "pause", "stop", "seek", "rate", "track", "stall", "unstall", "interruption-began",
        "interruption-ended", "error", "metadata", "session", "snapshot", "pending",
    ]

    /// Names of the members in which both states differ. The daemon writes them in the same order each time.
    private func differences(from old: StateView) -> [String] {
        let (new, old) = (json.objectValue?.members ?? [], old.json.objectValue ?? JSONObject())
        var result: [String] = []
        var following = 0
        var same = 0
        for member in new {
            while following < old.members.count, old.members[following].name != member.name { following += 1 }
            guard following < old.members.count else { break }
            if old.members[following].value != member.value { result.append(member.name) }
            following += 1
            same += 1
        }
        guard same < new.count || same < old.members.count else { return result }
        // Members were added or removed.
        let before = Dictionary(uniqueKeysWithValues: old.members.map { ($0.name, $0.value) })
        let after = Dictionary(uniqueKeysWithValues: new.map { ($0.name, $0.value) })
        return Array(Set(before.keys).union(after.keys).filter { before[$0] != after[$0] })
    }
}

extension MPDFailure {
    /// MPD's failure for a refusal of the daemon.
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
