/// Tags that a query reads of each track.
package struct TagChoice: Equatable, Sendable {
    private let bits: Int64

    /// All tags.
    package static let all = TagChoice(bits: -1)

    private init(bits: Int64) { self.bits = bits }

    /// These tags.
    package init(_ tags: some Sequence<TrackTag>) { bits = tags.reduce(0) { $0 | $1.bit } }

    /// True if the tag is one of them.
    package func contains(_ tag: TrackTag) -> Bool { bits & tag.bit != 0 }
}
