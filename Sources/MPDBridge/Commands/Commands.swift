import BridgeRuntime
import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying

/// Carries out the commands of MPD's protocol at the daemon.
@PlayerLoop final class Commands: CommandPerformer {
    let mirror: PlayerMirror
    let names: SongNameTable
    let library: Library
    /// Places at which windows of clients ended, by their numbers.
    var windows: [Int: WindowPlace] = [:]
    /// Pictures that clients read, by their numbers.
    var pictures: [Int: OpenPicture] = [:]
    /// Stickers; nil: nobody has asked for one yet.
    var stickerStore: StickerStore?
    /// The stored playlist that was loaded last; empty: none was.
    var lastLoaded = ""
    /// Channels of clients.
    var board = MessageBoard()
    /// Start of the bridge.
    let started = EventLoop.now
    /// The server whose clients ask; nil before it exists.
    private(set) weak var server: MPDServer?
    private let loop: EventLoop
    /// Wrong passwords of late.
    private var wrongPasswords = 0
    private var delays: [ObjectIdentifier: EventSource] = [:]

    /// Commands at this mirror.
    init(_ loop: EventLoop, _ mirror: PlayerMirror, _ names: SongNameTable, _ library: Library) {
        self.loop = loop
        self.mirror = mirror
        self.names = names
        self.library = library
    }

    /// Serves the clients of this server.
    func serve(_ server: MPDServer) { self.server = server }

    var commands: Set<MPDCommand> { library.isThere ? Self.withLibrary : Self.always }

    /// Commands that the library answers.
    private static let ofLibrary: Set<MPDCommand> = [
        .albumart, .count, .find, .findadd, .list, .listall, .listallinfo, .listfiles, .listplaylist,
        .listplaylistinfo, .listplaylists, .load, .lsinfo, .playlistadd, .playlistclear, .playlistdelete,
        .playlistlength, .playlistmove, .readpicture, .rename, .rescan, .rm, .save, .search, .searchadd, .searchaddpl,
        .searchcount, .searchplaylist, .sticker, .stickernames, .stickernamestypes, .stickertypes, .update,
    ]
    private static let withLibrary = always.union(ofLibrary)

    /// Commands that the daemon and the bridge answer alone.
    private static let always: Set<MPDCommand> = [
        .add, .addid, .binarylimit, .channels, .clear, .clearerror, .close, .commands, .consume, .crossfade,
        .currentsong, .delete, .deleteid, .getvol, .idle, .move, .moveid, .next, .notcommands, .outputs, .password,
        .pause, .ping, .play, .playid, .playlist, .playlistfind, .playlistid, .playlistinfo, .playlistsearch,
        .plchanges, .plchangesposid, .previous,
        .prio, .prioid, .random, .readmessages, .repeat, .replayGainMode, .replayGainStatus, .seek, .seekcur, .seekid,
        .sendmessage, .setvol, .shuffle, .single, .stats, .status, .stop, .subscribe, .swap, .swapid, .tagtypes,
        .unsubscribe, .urlhandlers, .volume,
    ]

    func clientGone(_ client: MPDClient) {
        windows[client.number] = nil
        pictures[client.number] = nil
        board.forget(client.number) { [weak server] in server?.note($0) }
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) {
        do throws(MPDFailure) {
            switch request.command {
            case .status, .currentsong, .stats: try answer(request, client, finish)
            case .playlist, .playlistfind, .playlistid, .playlistinfo, .playlistsearch, .plchanges, .plchangesposid:
                try list(request, client, finish)
            case .add, .addid, .clear, .delete, .deleteid, .move, .moveid, .shuffle, .swap, .swapid, .prio, .prioid:
                try edit(request, client, finish)
            case .play, .playid, .pause, .stop, .next, .previous, .seek, .seekid, .seekcur:
                try play(request, finish)
            case .repeat, .random, .single, .consume, .crossfade, .replayGainMode, .replayGainStatus, .setvol, .volume,
                .getvol, .clearerror, .outputs:
                try setting(request, client, finish)
            case .channels, .subscribe, .unsubscribe, .sendmessage, .readmessages:
                try message(request, client, finish)
            case .binarylimit, .close, .commands, .idle, .notcommands, .password, .ping, .tagtypes, .urlhandlers:
                try connection(request, client, finish)
            case .count, .find, .findadd, .list, .listall, .listallinfo, .listfiles, .lsinfo, .rescan, .search,
                .searchadd, .searchaddpl, .searchcount, .update:
                try database(request, client, finish)
            case .listplaylist, .listplaylistinfo, .listplaylists, .load, .playlistadd, .playlistclear,
                .playlistdelete, .playlistlength, .playlistmove, .rename, .rm, .save, .searchplaylist:
                try stored(request, client, finish)
            case .albumart, .readpicture: try picture(request, client, finish)
            case .sticker, .stickernames, .stickernamestypes, .stickertypes: try sticker(request, client, finish)
            case .addtagid, .cleartagid, .config, .decoders, .delpartition, .disableoutput, .enableoutput,
                .getfingerprint, .kill, .listmounts, .listneighbors, .listpartitions, .mixrampdb, .mixrampdelay,
                .mount, .moveoutput, .newpartition, .outputset, .partition, .protocol, .rangeid, .readcomments,
                .toggleoutput, .unmount:
                // `commands` has none of these: a line with one was refused.
                throw MPDFailure(.unknown, "unknown command \"\(request.command.rawValue)\"")
            }
        } catch {
            finish(.failed(error))
        }
    }

    /// Calls a method of the daemon whose result has nothing to say.
    func call(_ method: String, _ finish: @escaping Finish) { call(method, [:], finish) }

    /// The same with parameters.
    func call(_ method: String, _ parameters: JSONValue, _ finish: @escaping Finish) {
        mirror.call(method, parameters) { result in
            switch result {
            case .success: finish(.ok)
            case .failure(let failure): finish(.failed(failure))
            }
        }
    }

    /// Answers a wrong password later: guesses take their time.
    func delay(_ finish: @escaping Finish, _ failure: MPDFailure) {
        wrongPasswords += 1
        let token = Delay()
        let seconds = min(2, 0.25 * Double(wrongPasswords))
        delays[ObjectIdentifier(token)] = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [weak self] in
            self?.delays[ObjectIdentifier(token)] = nil
            self?.wrongPasswords -= 1
            finish(.failed(failure))
        }
    }

    /// Identity of a delayed answer.
    private final class Delay {}
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
