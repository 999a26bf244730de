import ArtworkLookup
import AudioDecoders
import ControlProtocol
import NowPlaying
import PlaybackEngine

/// For diagnostics: the pictures of the present item, or the reason why it has none.
extension ArtworkKeeper {
    /// An object: `state` (`none` without an item, `searching`, `found`, `placeholder`, `unfetched`, `missing`), the
    /// sources of pictures, the reasons why others are not shown, and advice for their owner.
    var report: JSONValue {
        guard let item = parts.subject.state.item?.id else { return ["state": "none"] }
        guard let known = known.last(where: { $0.item == item }) else {
            return ["state": running?.item == item ? "searching" : "missing"]
        }
        var result = JSONObject()
        var state = known.result.found.isEmpty ? "missing" : known.result.isPlaceholder ? "placeholder" : "found"
        var sources = known.result.found.map(\.origin.words)
        var failures = known.result.failures
        if state != "found", let (address, shown) = address(of: item) {
            switch remote.result(of: address.text) {
            case nil: state = remote.isFetching(address.text) ? "searching" : "unfetched"
            case .success?: state = "found"
            case .failure(let error)?: failures.append("cannot show the picture \(shown): \(error.message)")
            }
            if state != "missing" { sources = ["the picture \(shown)"] }
        }
        sources += known.result.animated.map(\.words)
        result["state"] = .string(state)
        result["sources"] = .array(sources.map { .string($0) })
        result["failures"] = .array(failures.map { .string($0) })
        result["advice"] = .array(
            known.result.animated.flatMap { film in film.advice.map { .string("\(film.words): \($0)") } })
        if parts.cache == nil { result["cache"] = .null }
        return .object(result)
    }
}
