/// Obstacles to a command, whatever clients set.
package enum CommandObstacle: Equatable, Sendable {
    /// An advertisement has no other position to go to.
    case advertisement
    /// A live stream has neither beginning nor end.
    case liveStream
    /// The medium can't be seeked.
    case notSeekable
    case emptyQueue
    case noCurrentItem

    /// The obstacle as remotes show it.
    package var words: String {
        switch self {
        case .advertisement: "advertisement"
        case .liveStream: "live stream"
        case .notSeekable: "not seekable"
        case .emptyQueue: "empty queue"
        case .noCurrentItem: "no current item"
        }
    }
}
