package import ControlProtocol
import NowPlaying

extension MethodName {
    /// True if the media of the request become items of the queue.
    package var addsItems: Bool { self == .command(.play) }
}

extension JSONObject {
    /// True if these parameters of `play` name an item of the queue, or media.
    package var choosesItem: Bool { ["uri", "descriptor", "itemId", "index"].contains { self[$0] != nil } }
}

extension MethodName.Other {
    /// True if the method acts on a queue or a volume, which an external session does not have in the daemon.
    var isOfLocalSessions: Bool {
        switch self {
        case .queueList, .queueGet, .queueChanges, .queueAdd, .queueRemove, .queueMove, .queueClear, .queueShuffle,
            .queuePrioritize, .itemUpdate, .feedbackGet, .feedbackSet, .volumeSet, .loudnessSet, .crossfadeSet,
            .fadeSet, .sleepSet, .commandsConfigure:
            true
        case .hello, .nowPlayingGet, .nowPlayingSubscribe, .nowPlayingUnsubscribe, .nowPlayingMap, .commandsList,
            .announce,
            .sessionList, .sessionCreate, .sessionActivate, .sessionClose, .nowPlayingPublish, .outputList,
            .outputSelect, .outputDelaySet, .formatsList, .diagnosticsGet, .artworkGet, .rpcDiscover, .daemonReload,
            .daemonQuit, .figuresGet, .feedbackChanges, .feedbackSubscribe, .feedbackUnsubscribe:
            false
        }
    }
}
