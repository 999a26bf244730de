/// Feedback on a content as the daemon has it.
package struct MirroredFeedback: Equatable, Sendable {
    /// Identity of the content, as tracks have it.
    package var identity: Int64
    package var feedback: TrackFeedback

    /// Feedback, by its parts.
    package init(identity: Int64, feedback: TrackFeedback) {
        self.identity = identity
        self.feedback = feedback
    }
}
