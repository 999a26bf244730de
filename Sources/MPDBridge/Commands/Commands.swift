import BridgeRuntime
import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying
import NowPlayingClient

/// Carries out the commands of MPD's protocol at the daemon.
@PlayerLoop final class Commands: CommandPerformer {
    let mirror: PlayerMirror
    let names: SongNameTable
    let library: Library
    /// Places at which windows of clients ended, by their numbers.
    var windows: [Int: WindowPlace] = [:]
    /// The stored playlist that was loaded last; empty: none was.
    var lastLoaded = ""
    /// Lines of songs of the queue that clients were sent.
    var queueRows = QueueRowTable()
    /// The last answer to `status`, without its position.
    var statusLines: StatusLines?
    /// Name of the partition.
    let partitionName: String
    /// Devices of the sound server.
    let outputs: OutputTable
    /// The daemon with the rights of clients.
    let daemon: DaemonCalls
    /// Refusals of passwords.
    let passwords: WrongPasswords
    /// Settings of MPD that have no effect here.
    var mixRamp = MixRamp()
    /// The error that clients have cleared.
    private(set) var hiddenError = HiddenError()
    /// Channels of clients.
    var board = MessageBoard()
    /// Start of the bridge.
    let started = EventLoop.now
    /// The server whose clients ask; nil before it exists.
    private(set) weak var server: MPDServer?
    /// All partitions; nil before they exist.
    private(set) weak var partitions: Partitions?
    private let pictures: PictureDesk
    private lazy var stickers = StickerDesk(daemon, library.links, names) { [unowned self] in server?.note(.sticker) }

    /// Commands at this mirror.
    init(
        _ loop: EventLoop, _ mirror: PlayerMirror, partition: String, _ names: SongNameTable, _ outputs: OutputTable,
        _ library: Library, _ callers: LinkPool
    ) {
        daemon = DaemonCalls(mirror, callers)
        passwords = WrongPasswords(loop)
        pictures = PictureDesk(library.links, names)
        self.mirror = mirror
        partitionName = partition
        self.names = names
        self.library = library
        self.outputs = outputs
    }

    /// Serves the clients of this server, which are in one of these partitions.
    func serve(_ server: MPDServer, _ partitions: Partitions) {
        self.server = server
        self.partitions = partitions
    }

    var commands: Set<MPDCommand> { library.isThere ? Self.withLibrary : Self.always }

    /// Commands that the library answers.
    private static let ofLibrary: Set<MPDCommand> = [
        .albumart, .count, .find, .findadd, .list, .listall, .listallinfo, .listfiles, .listplaylist,
        .listplaylistinfo, .listplaylists, .load, .lsinfo, .playlistadd, .playlistclear, .playlistdelete,
        .playlistlength, .playlistmove, .readcomments, .readpicture, .rename, .rescan, .rm, .save, .search, .searchadd,
        .searchaddpl, .searchcount, .searchplaylist, .sticker, .stickernames, .stickernamestypes, .stickertypes,
        .update,
    ]
    private static let withLibrary = always.union(ofLibrary)

    /// Commands that the daemon and the bridge answer alone.
    private static let always: Set<MPDCommand> = [
        .add, .addid, .addtagid, .binarylimit, .channels, .clear, .clearerror, .cleartagid, .close, .commands, .consume,
        .config, .crossfade,
        .currentsong, .decoders, .delete, .deleteid, .delpartition, .disableoutput, .enableoutput, .getvol,
        .idle, .listmounts, .listneighbors, .listpartitions, .mixrampdb, .mixrampdelay, .mount, .move, .moveid,
        .moveoutput, .newpartition, .next, .notcommands, .outputs, .outputset, .partition, .password, .pause, .ping,
        .play, .playid, .playlist, .playlistfind, .playlistid, .playlistinfo,
        .playlistsearch, .plchanges, .plchangesposid, .previous, .prio, .prioid,
        .protocol, .random, .rangeid, .readmessages, .repeat, .replayGainMode, .replayGainStatus, .seek, .seekcur,
        .seekid, .sendmessage, .setvol, .shuffle, .single, .stats, .status, .stop, .subscribe, .swap, .swapid,
        .tagtypes, .toggleoutput, .unmount, .unsubscribe, .urlhandlers, .volume,
    ]

    func clientGone(_ client: MPDClient) {
        windows[client.number] = nil
        pictures.forget(client)
        board.forget(client.number) { noteHere($0) }
        partitions?.left(self)
    }

    /// Something has changed for the clients of this partition.
    func noteHere(_ subsystem: Subsystem) { server?.note(subsystem, in: self) }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) {
        do throws(MPDFailure) {
            switch request.command {
            case .status, .currentsong, .stats: try answer(request, client, finish)
            case .playlist, .playlistfind, .playlistid, .playlistinfo, .playlistsearch, .plchanges, .plchangesposid:
                try list(request, client, finish)
            case .add, .addid, .clear, .delete, .deleteid, .move, .moveid, .shuffle, .swap, .swapid, .prio, .prioid:
                try edit(request, client, finish)
            case .play, .playid, .pause, .stop, .next, .previous, .seek, .seekid, .seekcur:
                try play(request, client, finish)
            case .repeat, .random, .single, .consume, .crossfade, .mixrampdb, .mixrampdelay, .replayGainMode,
                .replayGainStatus, .setvol, .volume, .getvol, .clearerror:
                try setting(request, client, finish)
            case .channels, .subscribe, .unsubscribe, .sendmessage, .readmessages:
                try message(request, client, finish)
            case .outputs, .enableoutput, .disableoutput, .toggleoutput, .outputset:
                try output(request, client, finish)
            case .partition, .listpartitions, .newpartition, .delpartition, .moveoutput:
                try partition(request, client, finish)
            case .addtagid, .cleartagid, .rangeid: try tag(request, client, finish)
            case .config, .decoders, .urlhandlers, .listmounts, .listneighbors, .mount, .unmount:
                try describe(request, client, finish)
            case .binarylimit, .close, .commands, .idle, .notcommands, .password, .ping, .protocol, .tagtypes:
                try connection(request, client, finish)
            case .count, .find, .findadd, .list, .listall, .listallinfo, .listfiles, .lsinfo, .rescan, .search,
                .searchadd, .searchaddpl, .searchcount, .update:
                try database(request, client, finish)
            case .listplaylist, .listplaylistinfo, .listplaylists, .load, .playlistadd, .playlistclear,
                .playlistdelete, .playlistlength, .playlistmove, .rename, .rm, .save, .searchplaylist:
                try stored(request, client, finish)
            case .readcomments: try comments(request.arguments[0], client, finish)
            case .albumart, .readpicture: try pictures.perform(request, for: client, finish)
            case .sticker, .stickernames, .stickernamestypes, .stickertypes:
                try stickers.perform(request, for: client, finish)
            case .getfingerprint, .kill:
                // `commands` has none of these: a line with one was refused.
                throw MPDFailure(.unknown, "unknown command \"\(request.command.rawValue)\"")
            }
        } catch {
            finish(.failed(error))
        }
    }

    /// Hides the present error of the daemon.
    func hideError() { hiddenError.hide(mirror.state?.error) }

    /// Shows the error of an item again that clients have hidden.
    func showError(of item: Int64?) { hiddenError.show(of: item) }
}

/// The names of songs, which change with the folders of the library.
@PlayerLoop final class SongNameTable {
    /// The present names.
    private(set) var names = SongNames()

    /// A table without folders.
    init() {}

    /// The library has these folders now.
    func set(_ names: SongNames) { self.names = names }
}
