/// A search for names outside the database, ranked like the hits of `TrackReader.search`.
package struct NameSearch: Sendable {
    private let wanted: SearchText

    /// A search for this text.
    package init(_ text: String) { wanted = SearchText(text) }

    /// The rank of a name; nil: it does not match.
    package func rank(_ name: String) -> SearchRank? {
        wanted.folded.isEmpty ? nil : wanted.rank(Folding.fold(name))
    }
}
