import LinuxSystem
import MPDProtocol

/// Carries out the commands of MPD's protocol in one partition: each has its desk.
@PlayerLoop final class Commands: CommandPerformer {
    /// Parts of the bridge that its partitions share.
    struct Shared {
        /// Names of songs.
        let names: SongNameTable
        /// Devices of the sound server.
        let outputs: OutputTable
        /// The library.
        let library: Library
        /// Connections to the daemon with the rights of clients.
        let callers: LinkPool
        /// Threads for filters.
        let work: FilterWork
        /// The store of stickers.
        let stickers: StickerThread
    }

    /// The session of the daemon that the partition shows.
    let mirror: PlayerMirror
    private let library: Library
    private weak var partitions: Partitions?

    // MARK: Desks

    private let status: StatusDesk
    private let listing: ListingDesk
    private let queue: QueueDesk
    private let joint: JointDesk
    private let playback: PlaybackDesk
    private let settings: SettingDesk
    private let messages: MessageDesk
    private let output: OutputDesk
    private let partition: PartitionDesk
    private let itemTags: ItemTagDesk
    private let abilities: AbilityDesk
    private let connection: ConnectionDesk
    private let search: SearchDesk
    private let values: ValueDesk
    private let folders: FolderDesk
    private let lists: ListDesk
    private let listEdits: ListEditDesk
    private let comments: CommentDesk
    private let pictures: PictureDesk
    private let stickers: StickerDesk

    /// The commands of the partition of this name, which shows the session of this mirror.
    init(
        _ mirror: PlayerMirror, partition name: String, _ shared: Shared, _ server: MPDServer,
        _ partitions: Partitions
    ) {
        self.mirror = mirror
        self.partitions = partitions
        library = shared.library
        let clients = PartitionClients(server)
        let daemon = DaemonCalls(mirror, shared.callers)
        let calls = LibraryCalls(library, shared.names, shared.work)
        let additions = QueueAdditions(mirror, calls)
        let notes = PartitionNotes()
        status = StatusDesk(mirror, partition: name, library, calls, notes)
        listing = ListingDesk(mirror, calls)
        queue = QueueDesk(mirror, daemon, calls, additions, notes)
        joint = JointDesk(mirror, daemon, calls, additions)
        playback = PlaybackDesk(mirror, daemon, notes)
        settings = SettingDesk(mirror, daemon, notes, clients)
        messages = MessageDesk(clients)
        output = OutputDesk(mirror, daemon, shared.outputs)
        partition = PartitionDesk(mirror, daemon, shared.outputs, partitions)
        itemTags = ItemTagDesk(mirror, daemon)
        abilities = AbilityDesk(mirror, shared.names)
        connection = ConnectionDesk(library, clients)
        search = SearchDesk(mirror, calls, additions)
        values = ValueDesk(calls)
        folders = FolderDesk(calls)
        lists = ListDesk(mirror, calls, additions, notes)
        listEdits = ListEditDesk(mirror, calls, additions)
        comments = CommentDesk(calls)
        pictures = PictureDesk(library.links, shared.names)
        stickers = StickerDesk(daemon, library.links, shared.names, shared.stickers) { clients.noteAll(.sticker) }
        clients.follow(self)
    }

    var commands: Set<MPDCommand> { CommandTable.commands(withLibrary: library.isThere) }

    func clientGone(_ client: MPDClient) {
        search.forget(client)
        pictures.forget(client)
        messages.forget(client)
        partitions?.left(self)
    }

    func perform(_ requests: [MPDRequest], for client: MPDClient, _ finish: @escaping JointFinish) {
        joint.perform(requests, for: client, finish)
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) {
        do throws(MPDFailure) {
            guard let desk = desk(of: request.command) else {
                // `commands` lists none of these, so the check of the line has refused them.
                throw MPDFailure(.unknown, "unknown command \"\(request.command.rawValue)\"")
            }
            try desk.perform(request, for: client, finish)
        } catch {
            finish(.failed(error))
        }
    }

    /// The desk that carries out a command; nil: the bridge lacks the command.
    private func desk(of command: MPDCommand) -> (any CommandDesk)? {
        switch command {
        case .status, .currentsong, .stats: status
        case .playlist, .playlistfind, .playlistid, .playlistinfo, .playlistsearch, .plchanges, .plchangesposid: listing
        case .add, .addid, .clear, .delete, .deleteid, .move, .moveid, .shuffle, .swap, .swapid, .prio, .prioid: queue
        case .play, .playid, .pause, .stop, .next, .previous, .seek, .seekid, .seekcur: playback
        case .repeat, .random, .single, .consume, .crossfade, .mixrampdb, .mixrampdelay, .replayGainMode,
            .replayGainStatus, .setvol, .volume, .getvol, .clearerror:
            settings
        case .channels, .subscribe, .unsubscribe, .sendmessage, .readmessages: messages
        case .outputs, .enableoutput, .disableoutput, .toggleoutput, .outputset: output
        case .partition, .listpartitions, .newpartition, .delpartition, .moveoutput: partition
        case .addtagid, .cleartagid, .rangeid: itemTags
        case .config, .decoders, .urlhandlers, .listmounts, .listneighbors, .mount, .unmount: abilities
        case .binarylimit, .close, .commands, .idle, .notcommands, .password, .ping, .protocol, .tagtypes: connection
        case .find, .findadd, .rescan, .search, .searchadd, .update: search
        case .count, .list, .searchcount: values
        case .listall, .listallinfo, .listfiles, .lsinfo: folders
        case .listplaylist, .listplaylistinfo, .listplaylists, .load, .playlistlength, .searchplaylist: lists
        case .playlistadd, .playlistclear, .playlistdelete, .playlistmove, .rename, .rm, .save, .searchaddpl: listEdits
        case .readcomments: comments
        case .albumart, .readpicture: pictures
        case .sticker, .stickernames, .stickernamestypes, .stickertypes: stickers
        case .getfingerprint, .kill: nil
        }
    }
}
