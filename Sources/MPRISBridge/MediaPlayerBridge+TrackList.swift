import ControlProtocol
import LinuxSystem
import NowPlaying
import NowPlayingClient

/// `org.mpris.MediaPlayer2.TrackList`.
extension MediaPlayerBridge {
    /// Answers a call of this interface after the daemon's answer.
    func trackList(_ call: Call) {
        switch call.message.member {
        case "GetTracksMetadata":
            guard takes(call, "ao"), let paths = call.message.readPaths(limit: Int(TrackWindow.length)) else { return }
            withTracks(call) { [unowned self] in call.reply(.dictionaries(paths.compactMap(metadata))) }
        case "AddTrack": addTrack(call)
        case "RemoveTrack":
            guard takes(call, "o"), let id = track(call) else { return }
            command(call, "queue.remove", ["ids": [.integer(id)]], isForgiven: Self.isMissing)
        case "GoTo":
            guard takes(call, "o"), let id = track(call) else { return }
            command(call, "play", ["itemId": .integer(id)], isForgiven: Self.isMissing)
        default: unknown(call)
        }
    }

    private func addTrack(_ call: Call) {
        guard takes(call, "sob"), let uri = uri(call), let path = call.message.readText("o"),
            let isCurrent = call.message.readBool()
        else { return }
        withTracks(call) { [unowned self] in
            let index: Int64
            if path == TrackPath.none {
                index = 0
            } else if let after = tracks.entry(path) {
                index = after.index + 1
            } else {
                return call.refuse(.invalidArguments, "there is no track \(path) in the list")
            }
            command(
                call, "queue.add",
                ["items": [.string(uri)], "at": .integer(index), "play": .bool(isCurrent)])
        }
    }

    /// Calls `then` when the list of tracks matches the queue.
    private func withTracks(_ call: Call, _ then: @escaping @PlayerLoop () -> Void) {
        guard let state else { return call.refuse(.failed, "the daemon is not running") }
        tracks.refresh(state) { isDone in
            isDone ? then() : call.refuse(.failed, "the daemon did not list its queue")
        }
    }

    /// Metadata of a track; the current track has more metadata than the list.
    func metadata(_ path: String) -> BusDictionary? {
        if let item = state?.item, TrackPath.id(path) == item["id"]?.integerValue {
            return TrackMetadata.of(item, picture: pictures.path(of: item))
        }
        return tracks.entry(path).map { TrackMetadata.of($0.entry) }
    }

    /// Reads the id of a track. An unknown track is in no list: the call is answered and has no effect.
    private func track(_ call: Call) -> Int64? {
        guard let id = TrackPath.id(call.message.readText("o") ?? "") else {
            call.reply()
            return nil
        }
        return id
    }

    private static func isMissing(_ error: JSONValue) -> Bool { error["code"]?.integerValue == 100 }
}
