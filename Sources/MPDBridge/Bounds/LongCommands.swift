import LinuxSystem
import MPDProtocol

/// Commands whose answers can be long. Their number is limited; others wait for their turn.
@PlayerLoop final class LongCommands {
    /// Maximum running commands of one source.
    nonisolated static let mostOfSource = 8
    /// Maximum running commands of all sources but the bridge's own user.
    nonisolated static let mostOfOthers = 24
    /// Maximum running commands of the bridge's own user.
    nonisolated static let mostOfOwn = 32

    private var running: [PeerSource: Int] = [:]
    private var waiting = FairQueue<@PlayerLoop (LongPlace) -> Void>()

    /// No commands.
    init() {}

    /// Calls `start` with a place, at once or when one is free. The command runs as long as something holds the place.
    func enter(_ source: PeerSource, _ start: @escaping @PlayerLoop (LongPlace) -> Void) {
        waiting.put(start, of: source)
        begin()
    }

    private func begin() {
        while let (source, start) = waiting.take(hasRoom) {
            running[source, default: 0] += 1
            start(LongPlace(self, source))
        }
    }

    private func hasRoom(_ source: PeerSource) -> Bool {
        let own = running[source, default: 0]
        guard !source.isOwn else { return own < Self.mostOfOwn }
        let others = running.reduce(0) { $1.key.isOwn ? $0 : $0 + $1.value }
        return own < Self.mostOfSource && others < Self.mostOfOthers
    }

    fileprivate func left(_ source: PeerSource) {
        running[source, default: 1] -= 1
        if running[source] == 0 { running[source] = nil }
        EventLoop.current.later { [weak self] in self?.begin() }
    }
}

/// The place of a running long command; free again when it is released.
@PlayerLoop final class LongPlace {
    private let commands: LongCommands
    private let source: PeerSource
    private var shares: [HeldShare] = []

    fileprivate init(_ commands: LongCommands, _ source: PeerSource) {
        self.commands = commands
        self.source = source
    }

    isolated deinit { commands.left(source) }

    /// Keeps a share of memory until the place is free or its client begins another command.
    func keep(_ share: HeldShare) { shares.append(share) }

    /// Releases the shares of the previous command.
    func clear() { shares = [] }
}

extension MPDCommand {
    /// True for a command whose answer can be long, or that makes the library work for long.
    var isLong: Bool {
        switch self {
        case .albumart, .count, .find, .findadd, .list, .listall, .listallinfo, .listfiles, .listplaylist,
            .listplaylistinfo, .listplaylists, .load, .lsinfo, .playlist, .playlistadd, .playlistdelete, .playlistfind,
            .playlistid, .playlistinfo, .playlistlength, .playlistmove, .playlistsearch, .plchanges, .plchangesposid,
            .readcomments, .readpicture, .save, .search, .searchadd, .searchaddpl, .searchcount, .searchplaylist,
            .sticker, .stickernames, .stickernamestypes:
            true
        case .add, .addid, .addtagid, .binarylimit, .channels, .clear, .clearerror, .cleartagid, .close, .commands,
            .config, .consume, .crossfade, .currentsong, .decoders, .delete, .deleteid, .delpartition, .disableoutput,
            .enableoutput, .getfingerprint, .getvol, .idle, .kill, .listmounts, .listneighbors, .listpartitions,
            .mixrampdb, .mixrampdelay, .mount, .move, .moveid, .moveoutput, .newpartition, .next, .notcommands,
            .outputs, .outputset, .partition, .password, .pause, .ping, .play, .playid, .playlistclear, .previous,
            .prio, .prioid, .protocol, .random, .rangeid, .readmessages, .rename, .repeat, .replayGainMode,
            .replayGainStatus, .rescan, .rm, .seek, .seekcur, .seekid, .sendmessage, .setvol, .shuffle, .single, .stats,
            .status, .stickertypes, .stop, .subscribe, .swap, .swapid, .tagtypes, .toggleoutput, .unmount,
            .unsubscribe, .update, .urlhandlers, .volume:
            false
        }
    }
}
