import ArtworkLookup
import AudioCore
import AudioDecoders
import ControlProtocol
import LinuxSystem
import NowPlaying

/// Pictures from the network. They are fetched on request only.
extension ArtworkKeeper {
    /// Id of a picture before its first fetch, from its address alone.
    static func id(of address: PictureFetch.Address) -> String { ContentDigest.of(Array(address.text.utf8)) }

    /// The address of a picture by its id: the id of the address, or the id of the fetched picture.
    func address(withID id: String) -> (address: PictureFetch.Address, shown: String)? {
        for known in known.reversed() {
            guard let (address, shown) = address(of: known.item) else { continue }
            if Self.id(of: address) == id { return (address, shown) }
            if case .success(let artwork)? = remote.result(of: address.text), artwork.id == id {
                return (address, shown)
            }
        }
        return nil
    }

    /// Fetches the picture at an address, once for all callers that wait; the cache keeps earlier pictures.
    func fetch(
        _ wanted: (address: PictureFetch.Address, shown: String), _ cache: ArtworkCache,
        _ done: @escaping RemotePictures.Waiter
    ) {
        let text = wanted.address.text
        let expected: Artwork?
        switch remote.result(of: text) {
        case .failure(let error)?: return done(.failure(error))
        case .success(let artwork)?: expected = artwork
        case nil: expected = nil
        }
        guard let task = remote.join(text, done) else { return }
        let origin = ArtworkOrigin.remote(wanted.address, shown: wanted.shown, certificates: parts.certificates)
        parts.workers.submit {
            Self.have(origin, expected, cache, task)
        } _: { [weak self] result in
            guard let self else { return }
            if !task.abandoned.isSet, case .failure(let error) = result {
                parts.log("cannot show \(origin.words): \(error.message)")
            }
            let waiting = remote.end(text, result)
            for known in known where address(of: known.item)?.address.text == text { changed(known.item) }
            for done in waiting { done(result) }
        }
    }
}
