/// Obstacle to a command, independent of settings by clients.
package enum CommandObstacle: Equatable, Sendable {
    /// An advertisement cannot be seeked.
    case advertisement
    /// A live stream has no beginning and no end.
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
