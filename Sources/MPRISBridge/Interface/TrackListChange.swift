/// A change of a list of tracks, for `TrackAdded` and `TrackRemoved`. Specification: MPRIS 2.2, TrackList.
enum TrackListChange: Equatable, Sendable {
    /// Added path, and the path before it; nil: the added path is the first.
    case added(String, after: String?)
    case removed(String)

    /// Maximum number of single changes; more changes are signalled as a replaced list.
    static let limit = 8

    /// Changes from `before` to `after`: additions or removals; nil: the list is replaced.
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
