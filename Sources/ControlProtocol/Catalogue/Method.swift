/// The methods that this version answers; raw values are the names on the wire.
package enum MethodName: String, Sendable, CaseIterable {
    case hello
    case nowPlayingGet = "nowPlaying.get"
    case nowPlayingSubscribe = "nowPlaying.subscribe"
    case nowPlayingUnsubscribe = "nowPlaying.unsubscribe"
    case play, pause, stop, togglePlayPause, nextTrack, previousTrack, skipForward, skipBackward
    case seekForward, seekBackward
    case changePlaybackPosition, changePlaybackRate
    case changeRepeatMode, changeShuffleMode
    case rating, like, dislike, bookmark
    case commandsList = "commands.list"
    case commandsConfigure = "commands.configure"
    case queueList = "queue.list"
    case queueGet = "queue.get"
    case queueAdd = "queue.add"
    case queueRemove = "queue.remove"
    case queueMove = "queue.move"
    case queueClear = "queue.clear"
    case queueShuffle = "queue.shuffle"
    case itemUpdate = "item.update"
    case volumeSet = "volume.set"
    case loudnessSet = "loudness.set"
    case sleepSet = "sleep.set"
    case announce
    case sessionList = "session.list"
    case sessionCreate = "session.create"
    case sessionActivate = "session.activate"
    case sessionClose = "session.close"
    case nowPlayingPublish = "nowPlaying.publish"
    case outputList = "output.list"
    case outputSelect = "output.select"
    case formatsList = "formats.list"
    case diagnosticsGet = "diagnostics.get"
    case artworkGet = "artwork.get"
    case rpcDiscover = "rpc.discover"
    case daemonReload = "daemon.reload"
    case daemonQuit = "daemon.quit"
}

/// What a peer may do; each role includes those before it.
package enum Role: String, Sendable, CaseIterable, Comparable {
    case read, control, admin

    private var rank: Int { self == .read ? 0 : self == .control ? 1 : 2 }

    package static func < (a: Role, b: Role) -> Bool { a.rank < b.rank }
}

/// One entry of the catalogue.
package struct Method: Sendable {
    /// What a method is about; orders the manual.
    package enum Kind: String, Sendable, CaseIterable {
        case nowPlaying, command, queue, output, session, server
    }

    package var name: MethodName
    package var kind: Kind
    /// The least role that may call it.
    package var role: Role
    package var parameters: [Parameter]
    /// At most one of each group may be given.
    package var exclusive: [[String]] = []
    /// At least one of these must be given, if there are any.
    package var anyOf: [String] = []
    /// Whether it is refused as a step of a batch.
    package var isRefusedInBatch = false
    /// What it does, in a sentence or two.
    package var help: String
    /// What `result` holds, in words.
    package var result: String
    /// Parameters of a typical call, as JSON.
    package var example: String
}
