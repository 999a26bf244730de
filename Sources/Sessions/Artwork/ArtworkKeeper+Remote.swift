import ArtworkLookup
import AudioCore
import AudioDecoders
import ControlProtocol
import LinuxSystem
import NowPlaying

/// A running fetch of a picture from the network, and the callers that wait for it.
struct RemoteFetch {
    let task: ArtworkTask
    var waiting: [@PlayerLoop (Result<(artwork: Artwork, path: String), ArtworkError>) -> Void] = []
}

/// Pictures from the network. They are fetched on request only.
extension ArtworkKeeper {
    /// Addresses whose results are remembered, at most.
    private static let rememberedAddresses = 64

    /// Id of a picture before its first fetch, from its address alone.
    static func id(of address: PictureFetch.Address) -> String { ContentDigest.of(Array(address.text.utf8)) }

    /// The address of a picture by its id: the id of the address, or the id of the fetched picture.
    func address(withID id: String) -> (address: PictureFetch.Address, shown: String)? {
        for known in known.reversed() {
            guard let (address, shown) = address(of: known.item) else { continue }
            if Self.id(of: address) == id { return (address, shown) }
            if case .success(let artwork)? = fetched.last(where: { $0.address == address.text })?.result,
                artwork.id == id
            {
                return (address, shown)
            }
        }
        return nil
    }

    /// Fetches the picture at an address, once for all callers that wait; the cache keeps earlier pictures.
    func fetch(
        _ wanted: (address: PictureFetch.Address, shown: String), _ cache: ArtworkCache,
        _ done: @escaping @PlayerLoop (Result<(artwork: Artwork, path: String), ArtworkError>) -> Void
    ) {
        let text = wanted.address.text
        let expected: Artwork?
        switch fetched.last(where: { $0.address == text })?.result {
        case .failure(let error)?: return done(.failure(error))
        case .success(let artwork)?: expected = artwork
        case nil: expected = nil
        }
        if fetching[text] != nil {
            fetching[text]?.waiting.append(done)
            return
        }
        let task = ArtworkTask()
        fetching[text] = RemoteFetch(task: task, waiting: [done])
        let origin = ArtworkOrigin.remote(wanted.address, shown: wanted.shown, certificates: parts.certificates)
        parts.workers.submit {
            Self.have(origin, expected, cache, task)
        } _: { [weak self] result in
            guard let self, let fetch = fetching.removeValue(forKey: text) else { return }
            // An abandoned fetch may be requested again.
            if !task.abandoned.isSet {
                if case .failure(let error) = result { parts.log("cannot show \(origin.words): \(error.message)") }
                fetched.removeAll { $0.address == text }
                fetched.append((text, result.map(\.artwork)))
                if fetched.count > Self.rememberedAddresses { fetched.removeFirst() }
            }
            for known in known where address(of: known.item)?.address.text == text { changed(known.item) }
            for done in fetch.waiting { done(result) }
        }
    }
}
