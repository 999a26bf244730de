import LinuxSystem

/// Kinds of a lane's state.
extension Lane {
    /// Stream of a lane, and its flow by the player's last request.
    enum Phase {
        /// The stream was lost before everything was audible; `sentEnd` is the first frame of the next stream.
        case detached
        /// The server has not created the stream yet.
        case opening
        /// The flow is stopped. `isRead`: the timing was read since.
        case held(isRead: Bool)
        /// The flow was started and is not audible yet; the closure checks for the beginning.
        case starting(check: @PlayerLoop () -> Void)
        case flowing
    }

    /// Supply of the stream's queue.
    enum Supply {
        case fed
        /// The queue runs empty because the source is late.
        case starved
        /// The server was informed that nothing follows.
        case draining
        /// The server has played everything.
        case drained
    }

    /// A range of sent frames to be replaced by the following frames of the ring.
    struct Rewrite {
        /// First wrong frame of the stream.
        var streamStart: Int64
        /// Stream frame after the last wrong one.
        var oldEnd: Int64
        /// True if the server has no frames there: the range was spliced into silence.
        var isAlone = false
    }
}
