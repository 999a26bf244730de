/// A command of MPD's protocol, by its word. `Conversation` handles the lines that only begin, end or leave a list or a
/// wait.
package enum MPDCommand: String, CaseIterable, Sendable {
    case add, addid, addtagid, albumart, binarylimit, channels, clear, clearerror, cleartagid, close, commands, config
    case consume, count, crossfade, currentsong, decoders, delete, deleteid, delpartition, disableoutput, enableoutput
    case find, findadd, getfingerprint, getvol, idle, kill, list, listall, listallinfo, listfiles, listmounts
    case listneighbors, listpartitions, listplaylist, listplaylistinfo, listplaylists, load, lsinfo, mixrampdb
    case mixrampdelay, mount, move, moveid, moveoutput, newpartition, next, notcommands, outputs, outputset, partition
    case password, pause, ping, play, playid, playlist, playlistadd, playlistclear, playlistdelete, playlistfind
    case playlistid, playlistinfo, playlistlength, playlistmove, playlistsearch, plchanges, plchangesposid, previous
    case prio, prioid, `protocol`, random, rangeid, readcomments, readmessages, readpicture, rename, `repeat`
    case replayGainMode = "replay_gain_mode"
    case replayGainStatus = "replay_gain_status"
    case rescan, rm, save, search, searchadd, searchaddpl, searchcount, searchplaylist, seek, seekcur, seekid
    case sendmessage, setvol, shuffle, single, stats, status, sticker, stickernames, stickernamestypes, stickertypes
    case stop, subscribe, swap, swapid, tagtypes, toggleoutput, unmount, unsubscribe, update, urlhandlers, volume

    /// Commands by their words.
    package static let byWord = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// Rights that the command needs.
    package var permissions: Permissions {
        switch self {
        case .binarylimit, .close, .commands, .notcommands, .password, .ping, .protocol, .tagtypes: []
        case .albumart, .channels, .count, .currentsong, .decoders, .find, .getfingerprint, .getvol, .idle, .list,
            .listall, .listallinfo, .listfiles, .listmounts, .listneighbors, .listpartitions, .listplaylist,
            .listplaylistinfo, .listplaylists, .lsinfo, .outputs, .partition, .playlist, .playlistfind, .playlistid,
            .playlistinfo, .playlistlength, .playlistsearch, .plchanges, .plchangesposid, .readcomments,
            .readmessages, .readpicture, .replayGainStatus, .search, .searchcount, .searchplaylist, .stats, .status,
            .subscribe, .unsubscribe, .urlhandlers:
            .read
        case .add, .addid, .addtagid, .cleartagid, .findadd, .load, .rangeid, .searchadd: .add
        case .clear, .clearerror, .consume, .crossfade, .delete, .deleteid, .mixrampdb, .mixrampdelay, .move, .moveid,
            .next, .pause, .play, .playid, .previous, .prio, .prioid, .random, .repeat, .replayGainMode, .seek,
            .seekcur, .seekid, .setvol, .shuffle, .single, .stop, .swap, .swapid, .volume:
            .player
        case .playlistadd, .playlistclear, .playlistdelete, .playlistmove, .rename, .rescan, .rm, .save, .searchaddpl,
            .sendmessage, .update:
            .control
        case .config, .delpartition, .disableoutput, .enableoutput, .kill, .mount, .moveoutput, .newpartition,
            .outputset, .sticker, .stickernames, .stickernamestypes, .stickertypes, .toggleoutput, .unmount:
            .admin
        }
    }

    /// Valid numbers of arguments; nil: any number, without a check of the arguments.
    package var arity: ClosedRange<Int>? {
        switch self {
        case .close, .kill: nil
        case .channels, .clear, .clearerror, .commands, .config, .currentsong, .decoders, .getvol, .listmounts,
            .listneighbors, .listpartitions, .listplaylists, .next, .notcommands, .outputs, .ping, .playlist,
            .previous, .readmessages, .replayGainStatus, .stats, .status, .stickernames, .stickertypes, .stop,
            .urlhandlers:
            0...0
        case .listall, .listallinfo, .listfiles, .lsinfo, .pause, .play, .playid, .playlistid, .playlistinfo, .rescan,
            .shuffle, .stickernamestypes, .update:
            0...1
        case .binarylimit, .consume, .crossfade, .delete, .deleteid, .delpartition, .disableoutput, .enableoutput,
            .getfingerprint, .mixrampdb, .mixrampdelay, .moveoutput, .newpartition, .partition, .password,
            .playlistclear, .playlistlength, .random, .readcomments, .repeat, .replayGainMode, .rm, .seekcur, .setvol,
            .single, .subscribe, .toggleoutput, .unmount, .unsubscribe, .volume:
            1...1
        case .add, .addid, .cleartagid, .listplaylist, .listplaylistinfo, .plchanges, .plchangesposid, .save: 1...2
        case .load: 1...3
        case .albumart, .mount, .move, .moveid, .playlistdelete, .rangeid, .readpicture, .rename, .seek, .seekid,
            .sendmessage, .swap, .swapid:
            2...2
        case .playlistadd: 2...3
        case .searchplaylist: 2...4
        case .addtagid, .outputset, .playlistmove: 3...3
        case .idle, .protocol, .tagtypes: 0...Int.max
        case .count, .find, .findadd, .list, .playlistfind, .playlistsearch, .search, .searchadd, .searchcount:
            1...Int.max
        case .prio, .prioid, .searchaddpl: 2...Int.max
        case .sticker: 3...Int.max
        }
    }
}
