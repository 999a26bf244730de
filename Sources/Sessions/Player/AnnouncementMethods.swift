import AudioCore
import ControlProtocol
import ControlServer
import DaemonConfiguration
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine

/// Carries out announcements.
@PlayerLoop struct AnnouncementMethods {
    private let player: Player
    private let settings: LiveConfiguration

    /// Announcements over the sound of this player.
    init(_ player: Player, _ settings: LiveConfiguration) {
        self.player = player
        self.settings = settings
    }

    /// `announce`: answered when the announcement is over, or was refused.
    func announce(_ request: MethodRequest, _ answer: @escaping Answer) {
        guard let media = request.media.first, request.media.count == 1 else {
            return answer(
                .failure(.noSuchContent("an announcement is one file; this expands to \(request.media.count)")))
        }
        let usual = settings.current.announcements
        let announcement = Announcement(
            source: media.source,
            policy: request.string("policy").flatMap(AnnouncementPolicy.init) ?? usual.policy,
            duckTo: request.double("duckTo") ?? usual.duckTo, attack: usual.attack, release: usual.release,
            volume: request.double("volume") ?? usual.volume, priority: request.integer("priority") ?? 0,
            limit: usual.limit)
        let volume = announcement.volume.map { ", volume \($0)" } ?? ""
        Log.debug("announcement of \(media.source.uri): \(announcement.demand.words)\(volume)")
        player.announce(announcement) { result in
            switch result {
            case .success(let outcome):
                var members = [
                    JSONObject.Member("status", "success"), JSONObject.Member("seconds", .number(outcome.seconds)),
                ]
                if outcome.isCut { members.append(JSONObject.Member("cut", true)) }
                answer(.success(.object(JSONObject(members))))
            case .failure(.noDevice(let message)):
                answer(.failure(.deviceNotFound("cannot play the announcement: \(message)")))
            case .failure(.undecodable(let uri, let message)):
                answer(.failure(.noSuchContent("cannot announce \(uri): \(message)", uris: [uri])))
            case .failure(.tooMany(let limit)):
                answer(.failure(.commandFailed(.queueFull, "\(limit) announcements are waiting; try again later")))
            }
        }
    }
}
