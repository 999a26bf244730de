/// The daemon's feedback on a content.
package struct MirroredFeedback: Equatable, Sendable {
    /// Identity of the content, as in tracks.
    package var identity: Int64
    package var feedback: TrackFeedback

    /// Feedback, by its parts.
    package init(identity: Int64, feedback: TrackFeedback) {
        self.identity = identity
        self.feedback = feedback
    }
}
