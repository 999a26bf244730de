package import NowPlaying

/// Pictures of items: looked for elsewhere, shown with the item.
extension Player {
    /// Takes note that an item's picture is known now (`artworkOf` answers it): one event if the item is shown.
    package func artworkFound(for item: ItemID) {
        guard let told = state.item, told.id == item, told.artwork != artworkOf?(item) ?? [] else { return }
        publish(.metadata)
    }
}
