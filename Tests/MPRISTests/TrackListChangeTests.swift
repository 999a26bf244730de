import Testing

@testable import MPRISBridge

/// Signals for a changed list of tracks.
@Suite struct TrackListChangeTests {
    private func between(_ before: String, _ after: String) -> String {
        let changes = TrackListChange.between(before.map { String($0) }, after.map { String($0) })
        guard let changes else { return "replaced" }
        let words = changes.map { change in
            switch change {
            case .added(let path, let after): "+\(path)@\(after ?? "")"
            case .removed(let path): "-\(path)"
            }
        }
        return words.joined(separator: " ")
    }

    @Test(arguments: [
        ("", "a", "+a@"), ("a", "", "-a"), ("ab", "ab", ""), ("ab", "axb", "+x@a"), ("ab", "xab", "+x@"),
        ("ab", "axyb", "+x@a +y@x"), ("abc", "b", "-a -c"), ("ab", "ba", "replaced"), ("ab", "ax", "replaced"),
        ("", "abcdefgh", "+a@ +b@a +c@b +d@c +e@d +f@e +g@f +h@g"), ("", "abcdefghi", "replaced"),
        ("abcdefghi", "", "replaced"),
    ])
    func changes(before: String, after: String, signals: String) { #expect(between(before, after) == signals) }
}
