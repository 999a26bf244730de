/// What became of a list of tracks, in the words of `TrackAdded` and `TrackRemoved`. Specification: MPRIS 2.2, TrackList.
enum TrackListChange: Equatable, Sendable {
    /// Of this path, behind that one; nil: it is the first.
    case added(String, after: String?)
    case removed(String)

    /// Changes that are told one by one, at most; more are a list that was replaced.
    static let limit = 8

    /// What makes `after` of `before`: some that were added, or some that were removed; nil: it is another list.
    static func between(_ before: [String], _ after: [String]) -> [TrackListChange]? {
        guard abs(after.count - before.count) <= limit else { return nil }
        let (known, present) = (Set(before), Set(after))
        if after == before.filter(present.contains) {
            return before.filter { !present.contains($0) }.map { .removed($0) }
        }
        guard before == after.filter(known.contains) else { return nil }
        return after.indices.filter { !known.contains(after[$0]) }.map {
            .added(after[$0], after: $0 == 0 ? nil : after[$0 - 1])
        }
    }
}
