package import NowPlaying

/// Name of a method of the daemon. Remote commands have their wire names in their own table; the others are listed here.
package enum MethodName: Hashable, Sendable, CaseIterable, RawRepresentable {
    case command(RemoteCommand)
    case other(Other)

    /// Methods that are not remote commands; raw values are the names on the wire.
    package enum Other: String, Sendable, CaseIterable {
        case hello
        case nowPlayingGet = "nowPlaying.get"
        case nowPlayingSubscribe = "nowPlaying.subscribe"
        case nowPlayingUnsubscribe = "nowPlaying.unsubscribe"
        case nowPlayingMap = "nowPlaying.map"
        case commandsList = "commands.list"
        case commandsConfigure = "commands.configure"
        case queueList = "queue.list"
        case queueGet = "queue.get"
        case queueChanges = "queue.changes"
        case queueAdd = "queue.add"
        case queueRemove = "queue.remove"
        case queueMove = "queue.move"
        case queueClear = "queue.clear"
        case queueShuffle = "queue.shuffle"
        case queuePrioritize = "queue.prioritize"
        case itemUpdate = "item.update"
        case feedbackGet = "feedback.get"
        case feedbackSet = "feedback.set"
        case feedbackChanges = "feedback.changes"
        case feedbackSubscribe = "feedback.subscribe"
        case feedbackUnsubscribe = "feedback.unsubscribe"
        case volumeSet = "volume.set"
        case loudnessSet = "loudness.set"
        case crossfadeSet = "crossfade.set"
        case fadeSet = "fade.set"
        case sleepSet = "sleep.set"
        case announce
        case sessionList = "session.list"
        case sessionCreate = "session.create"
        case sessionActivate = "session.activate"
        case sessionClose = "session.close"
        case nowPlayingPublish = "nowPlaying.publish"
        case outputList = "output.list"
        case outputSelect = "output.select"
        case outputDelaySet = "output.delay.set"
        case formatsList = "formats.list"
        case diagnosticsGet = "diagnostics.get"
        case figuresGet = "figures.get"
        case artworkGet = "artwork.get"
        case rpcDiscover = "rpc.discover"
        case daemonReload = "daemon.reload"
        case daemonQuit = "daemon.quit"
    }

    package static let allCases = RemoteCommand.allCases.map(Self.command) + Other.allCases.map(Self.other)

    /// Methods by name: a switch over so many strings would compare them one after the other.
    private static let named = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// The method with this name on the wire; nil: there is none.
    package init?(rawValue: String) {
        guard let method = Self.named[rawValue] else { return nil }
        self = method
    }

    /// The name on the wire.
    package var rawValue: String {
        switch self {
        case .command(let command): command.rawValue
        case .other(let other): other.rawValue
        }
    }
}
