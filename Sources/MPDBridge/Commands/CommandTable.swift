import MPDProtocol

/// Commands of MPD's protocol that the bridge carries out.
enum CommandTable {
    /// The available commands.
    static func commands(withLibrary hasLibrary: Bool) -> Set<MPDCommand> { hasLibrary ? withLibrary : always }

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
}
