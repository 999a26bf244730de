/// A search for names that are in no database, ranked as `TrackReader.search` ranks its hits.
package struct NameSearch: Sendable {
    private let wanted: SearchText

    /// A search for this text.
    package init(_ text: String) { wanted = SearchText(text) }

    /// The grade of a name; nil: it does not fit.
    package func rank(_ name: String) -> SearchRank? {
        wanted.folded.isEmpty ? nil : wanted.rank(Folding.fold(name))
    }
}
