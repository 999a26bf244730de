import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying
import NowPlayingClient

/// Commands that show states.
@PlayerLoop final class StatusDesk: CommandDesk {
    private let mirror: PlayerMirror
    private let partitionName: String
    private let library: Library
    private let calls: LibraryCalls
    private let notes: PartitionNotes
    /// The last answer to `status`, without its position.
    private var statusLines: StatusLines?
    /// Start of the bridge.
    private let started = EventLoop.now

    /// The desk for the session of this mirror, in the partition of this name.
    init(
        _ mirror: PlayerMirror, partition: String, _ library: Library, _ calls: LibraryCalls, _ notes: PartitionNotes
    ) {
        self.mirror = mirror
        partitionName = partition
        self.library = library
        self.calls = calls
        self.notes = notes
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        switch request.command {
        case .status: client.write { status(&$0) }
        case .currentsong: return currentSong(client, finish)
        case _: return stats(client, finish)
        }
        finish(.ok)
    }

    private func status(_ writer: inout AnswerWriter) {
        let key = StatusLines.Key(
            changes: [mirror.changes, notes.hiddenError.changes], notes.mixRamp, lastLoaded: notes.lastLoaded,
            job: library.updating)
        if statusLines?.key != key {
            statusLines = StatusLines(key, position: position, head, tail)
        }
        statusLines?.write(&writer, at: EventLoop.now)
    }

    private var position: StatusLines.Position? {
        guard let state = mirror.state, let playback = state.state, playback != .stopped else { return nil }
        return StatusLines.Position(anchor: state.item == nil ? nil : state.anchor, duration: state.duration)
    }

    /// The lines before the position.
    private func head(_ writer: inout AnswerWriter) {
        let state = mirror.state
        let modes = Modes(state)
        if let volume = mirror.clientVolume { writer.pair("volume", volume) }
        writer.pair("repeat", modes.isRepeating)
        writer.pair("random", modes.isRandom)
        writer.pair("single", modes.single.rawValue)
        writer.pair("consume", modes.consume.rawValue)
        writer.pair("partition", partitionName)
        writer.pair("playlist", ShadowQueue.clientVersion(mirror.queue.version))
        writer.pair("playlistlength", mirror.queue.ids.count)
        writer.pair("mixrampdb", MPDNumbers.short(notes.mixRamp.level))
        writer.pair("state", Self.word(state?.state))
        writer.pair("lastloadedplaylist", notes.lastLoaded)
        if let seconds = state?.json["crossfade"]?["seconds"]?.doubleValue, seconds > 0 {
            writer.pair("xfade", Int64(clamping: seconds.rounded()))
        }
        if notes.mixRamp.delay > 0 { writer.pair("mixrampdelay", MPDNumbers.short(notes.mixRamp.delay)) }
        if let index = mirror.currentIndex, let id = mirror.current {
            writer.pair("song", index)
            writer.pair("songid", id)
        }
    }

    /// The lines after the position.
    private func tail(_ writer: inout AnswerWriter) {
        let state = mirror.state
        if let state, position != nil {
            writer.pair("bitrate", Int64(clamping: (Self.bitRate(state.item) / 1000).rounded()))
            if let duration = state.duration { writer.pair("duration", seconds: duration) }
            if let format = state.item.flatMap(SongBlock.format) { writer.pair("audio", format) }
        }
        if let job = library.updating { writer.pair("updating_db", job) }
        if state == nil {
            writer.pair("error", "nowplayingd is not running")
        } else if let fault = state?.text("error", "message"), !notes.hiddenError.hides(state?.error) {
            writer.pair("error", fault)
        }
        if let (index, id) = next(Modes(state)) {
            writer.pair("nextsong", index)
            writer.pair("nextsongid", id)
        }
    }

    /// The next song. The daemon does not report it if playback will pause before it; the modes then give it.
    private func next(_ modes: Modes) -> (Int, Int32)? {
        let ids = mirror.queue.ids
        if let next = mirror.state?.json["upcoming"]?["itemId"]?.integerValue.flatMap(Int32.init(exactly:)) {
            return mirror.queue.index(of: next).map { ($0, next) }
        }
        guard modes.single != .off, !modes.isRandom, let index = mirror.currentIndex else { return nil }
        let next = index + 1 < ids.count ? index + 1 : modes.isRepeating ? 0 : nil
        return next.map { ($0, ids[$0]) }
    }

    /// Bits a second. For uncompressed samples, they are computed.
    private static func bitRate(_ item: JSONValue?) -> Double {
        guard let format = item?["format"] else { return 0 }
        if let rate = format["bitRate"]?.doubleValue { return rate }
        guard format["codec"] == "PCM", let rate = format["sampleRate"]?.doubleValue,
            let channels = format["channels"]?.doubleValue, let bits = format["bitsPerSample"]?.doubleValue
        else { return 0 }
        return rate * channels * bits
    }

    private func currentSong(_ client: MPDClient, _ finish: @escaping Finish) {
        guard let item = mirror.state?.item else { return finish(.ok) }
        let uri = item["uri"]?.stringValue ?? ""
        let (index, file) = (mirror.currentIndex, calls.names.name(of: uri))
        calls.songs([uri], client) { [weak client] found, _ in
            guard let client else { return finish(.ok) }
            let block = SongBlock(item: item, song: found[uri], index: index, file: file)
            client.write { block.write(&$0, client.tags) }
            finish(.ok)
        }
    }

    private func stats(_ client: MPDClient, _ finish: @escaping Finish) {
        client.write { $0.pair("uptime", Int64(clamping: EventLoop.now.seconds(since: started))) }
        client.write { $0.pair("playtime", Int64(clamping: mirror.playTime.seconds)) }
        guard library.isThere else { return finish(.ok) }
        library.count { [weak self, weak client] counts in
            guard let self, let client else { return finish(.ok) }
            client.write { $0.pair("artists", counts.artists) }
            client.write { $0.pair("albums", counts.albums) }
            client.write { $0.pair("songs", counts.songs) }
            client.write { $0.pair("db_playtime", Int64(clamping: counts.duration.rounded(.down))) }
            if let updated = library.updated { client.write { $0.pair("db_update", updated) } }
            finish(.ok)
        }
    }

    private static func word(_ state: PlaybackState?) -> String {
        switch state {
        case .playing, .stalled: "play"
        case .paused, .interrupted: "pause"
        case .stopped, nil: "stop"
        }
    }
}
