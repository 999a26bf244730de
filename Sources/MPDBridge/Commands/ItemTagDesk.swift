import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Commands for tags that clients give to items of the queue, and for parts of files.
@PlayerLoop final class ItemTagDesk: CommandDesk {
    private let mirror: PlayerMirror
    private let daemon: DaemonCalls

    /// Items of the queue of this mirror.
    init(_ mirror: PlayerMirror, _ daemon: DaemonCalls) {
        self.mirror = mirror
        self.daemon = daemon
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let arguments = request.arguments
        if request.command == .rangeid {
            _ = try mirror.known(arguments[0])
            guard let colon = arguments[1].bytes.firstIndex(of: UInt8(ascii: ":")) else {
                throw MPDFailure(.argument, "Bad range")
            }
            guard arguments[1].bytes.count == 1, colon == 0 else {
                throw MPDFailure(.system, "a part of a file cannot be played alone: add a track of a cue sheet")
            }
            return finish(.ok)
        }
        let number = try arguments[0].count()
        let named = arguments.dropFirst().first
        let tag = named.flatMap(MPDTag.init)
        if let named, tag == nil { throw named.fault("Unknown tag type") }
        guard let id = Int32(exactly: number), mirror.queue.index(of: id) != nil else {
            throw MPDFailure(.noExist, "No such song")
        }
        daemon.ask("queue.get", ["id": .integer(Int64(id))], for: client) { [weak self, weak client] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success(let item):
                guard let self, let client, item["uri"]?.stringValue?.hasPrefix("file:") != true else {
                    return finish(.failed(MPDFailure(.permission, "Cannot edit tags of local file")))
                }
                guard request.command == .addtagid, let tag else {
                    return finish(
                        .failed(MPDFailure(.system, "a tag of an item cannot be removed: replace it with addtagid")))
                }
                give(tag, arguments[2].text, id, client, finish)
            }
        }
    }

    private func give(
        _ tag: MPDTag, _ value: String, _ id: Int32, _ client: MPDClient, _ finish: @escaping Finish
    ) {
        guard let field = tag.itemField else {
            return finish(.failed(MPDFailure(.argument, "an item of the queue keeps no \(tag.rawValue)")))
        }
        var parameters = JSONObject()
        parameters["id"] = .integer(Int64(id))
        switch tag {
        case .track, .disc:
            guard let number = Int64(value), number > 0 else {
                return finish(.failed(MPDFailure(.argument, "Integer expected: \(value)")))
            }
            parameters[field] = .integer(number)
        case _: parameters[field] = .string(value)
        }
        daemon.call("item.update", .object(parameters), for: client, finish)
    }
}

extension MPDTag {
    /// The daemon's field for a tag that a client may set; nil: there is none.
    fileprivate var itemField: String? {
        switch self {
        case .artist: "artist"
        case .album: "albumTitle"
        case .albumArtist: "albumArtist"
        case .title: "title"
        case .track: "trackNumber"
        case .disc: "discNumber"
        case .genre: "genre"
        case .date: "releaseDate"
        case .composer: "composer"
        case .comment: "description"
        case .artistSort, .albumSort, .albumArtistSort, .titleSort, .name, .mood, .originalDate, .composerSort,
            .performer, .conductor, .work, .movement, .movementNumber, .showMovement, .ensemble, .location, .grouping,
            .discSubtitle,
            .label, .musicBrainzArtistId, .musicBrainzAlbumId, .musicBrainzAlbumArtistId, .musicBrainzTrackId,
            .musicBrainzReleaseTrackId, .musicBrainzWorkId, .musicBrainzReleaseGroupId:
            nil
        }
    }
}
