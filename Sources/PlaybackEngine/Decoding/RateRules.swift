package import AudioCore
package import NowPlaying

/// The rules for an item's own rate, and the maker of rate changers. Used on the decode thread.
package struct RateRules: Sendable {
    /// The rate of an item without a client's rate, by its folder and its tags.
    let rate: @Sendable (_ source: MediaSource, _ metadata: MediaMetadata) -> Double
    let makeChanger: RateChangerMaker

    /// Rules; by default every item has the rate 1, and other rates are refused.
    package init(
        rate: @escaping @Sendable (_ source: MediaSource, _ metadata: MediaMetadata) -> Double = { _, _ in 1 },
        makeChanger: @escaping RateChangerMaker = { (_, _) throws(DecodingError) in
            throw DecodingError(.unavailable, "other rates than 1 are not built in here")
        }
    ) {
        self.rate = rate
        self.makeChanger = makeChanger
    }

    /// Possible rates.
    package static let range = 0.5...3.0
}
