import AudioCore
package import NowPlaying

/// What is remembered of items: kept elsewhere, shown with the item.
extension Player {
    /// Takes note that what is remembered of an item is known by now (`feedbackOf` answers it): one event, if the item is shown
    /// and somebody said something about it, or it is what an earlier run left. How often it was heard alone is told with what
    /// is told next.
    package func feedbackFound(for item: ItemID) {
        guard let told = state.item, told.id == item, let feedback = feedbackOf?(state), feedback != told.feedback,
            feedback.isSaid || state.cause == .snapshot
        else { return }
        publish(.metadata)
    }

    /// Takes note that somebody said something about an item: one event, if the item is shown and it is news.
    package func feedbackChanged(of item: ItemID, by: Originator) {
        guard let told = state.item, told.id == item, let feedback = feedbackOf?(state), feedback != told.feedback
        else {
            return
        }
        publish(.feedback, by: by)
    }

    /// Where an item stands that goes on where it was left: it is prepared at another place than it was asked for.
    func goesOn(_ change: PendingChange, _ item: OpenedItem) {
        guard item.isResumed else { return }
        let media = item.format.seconds(frames: item.itemStart)
        change.move(to: media, content: contentTime(of: item.id).content(ofMedia: media))
    }
}
