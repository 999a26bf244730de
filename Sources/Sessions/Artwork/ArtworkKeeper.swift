import ArtworkLookup
import AudioCore
import AudioDecoders
import ControlProtocol
import ControlServer
import DaemonConfiguration
package import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine

/// Searches the pictures of the present item and of the next one, and returns pictures by their ids.
@PlayerLoop package final class ArtworkKeeper {
    /// Environment of a keeper.
    struct Parts {
        /// The player whose pictures the keeper searches.
        var subject: any ArtworkSubject
        var loop: EventLoop
        var workers: Workers
        var rules: ArtworkSearch.Rules
        /// Nil: pictures are published, but `artwork.get` fails.
        var cache: ArtworkCache?
        /// File of certificates to trust; nil: the system's.
        var certificates: String?
        /// Read again for each search, as the configuration may change.
        var settings: LiveConfiguration
        var log: @PlayerLoop (String) -> Void
    }

    /// Known pictures of an item.
    struct Known {
        let item: ItemID
        let uri: String
        /// Animated artwork that a client named.
        let films: [String: String]
        /// A picture that a client named.
        let picture: String?
        var result: ArtworkSearch.Result
    }

    let parts: Parts
    private let search = ArtworkSearch()
    /// Results of the last searches, the newest at the end.
    private(set) var known: [Known] = []
    /// The item of the running search.
    private(set) var running: (item: ItemID, uri: String, task: ArtworkTask)?
    /// Pictures from the network.
    let remote = RemotePictures()
    /// Previews of animated artwork, by its ids.
    private var previews: [(film: String, found: ArtworkSearch.Found)] = []
    /// True while no search starts, because a picture may have crashed an earlier run.
    private var rests = false

    /// Items whose pictures are remembered.
    private static let remembered = 32
    /// Previews that are remembered.
    private static let rememberedPreviews = 16

    /// A keeper for one player.
    init(_ parts: Parts) {
        self.parts = parts
        parts.subject.takeArtwork { [weak self] in self?.artwork(of: $0) ?? [] }
    }

    isolated deinit { parts.cache?.keep([], for: ObjectIdentifier(self).hashValue) }

    // MARK: Published artwork

    /// The pictures of an item in a state: one still picture, the largest of its sizes, and the animated ones.
    private func artwork(of item: ItemID) -> [Artwork] {
        guard let known = known.last(where: { $0.item == item }) else { return [] }
        var result: [Artwork] = []
        let best = known.result.found.map(\.artwork).closest(width: nil, height: nil, fit: .cover)
        if known.result.isPlaceholder || best == nil, let address = address(of: item) {
            switch remote.result(of: address.address.text) {
            case .success(let artwork)?: result = [artwork]
            case .failure?: result = best.map { [$0] } ?? []
            case nil: result = [Artwork(unfetched: Self.id(of: address.address))]
            }
        } else if let best {
            result = [best]
        }
        return result + known.result.animated.map(\.artwork)
    }

    /// Protects the pictures in the state and their previews in the cache.
    func keepShown() {
        var ids = Set<String>()
        for known in known.suffix(4) {
            for artwork in artwork(of: known.item) { ids.insert(artwork.id) }
            for found in known.result.found { ids.insert(found.artwork.id) }
        }
        for artwork in parts.subject.state.item?.artwork ?? [] { ids.insert(artwork.id) }
        for preview in previews where ids.contains(preview.film) { ids.insert(preview.found.artwork.id) }
        parts.cache?.keep(ids, for: ObjectIdentifier(self).hashValue)
    }

    /// Publishes a new or lost picture of an item.
    func changed(_ item: ItemID) {
        keepShown()
        parts.subject.artworkFound(for: item)
    }

    /// The preview of animated artwork with this id; nil: it was not handed out lately.
    func preview(of film: String) -> ArtworkSearch.Found? { previews.last { $0.film == film }?.found }

    /// Remembers the preview of animated artwork with this id, to keep it in the cache.
    func remember(_ preview: ArtworkSearch.Found, of film: String) {
        previews.removeAll { $0.film == film }
        previews.append((film, preview))
        if previews.count > Self.rememberedPreviews { previews.removeFirst() }
    }

    // MARK: Searching

    /// Stops further searches until `wake`.
    func rest() { rests = true }

    /// Allows searches again, from the next state on.
    func wake() { rests = false }

    /// Follows a state: searches the picture of its item if that is unknown, then the picture of the next item.
    func follow(_ state: NowPlayingState) {
        guard !rests else { return }
        let wanted = [state.item?.id, state.upcoming?.itemID].compactMap(\.self)
        // Gives up fetches for items that are neither present nor next.
        remote.giveUp { text in wanted.contains { address(of: $0)?.address.text == text } }
        if let running, !wanted.contains(running.item) {
            running.task.giveUp()
            self.running = nil
        }
        forgetHandedOver(wanted)
        guard !wanted.isEmpty else { return }
        let next = wanted.first { item in
            guard let uri = parts.subject.entry(of: item)?.source.uri else { return false }
            let (films, picture) = (films(of: item), picture(of: item))
            return !known.contains {
                $0.item == item && $0.uri == uri && $0.films == films && $0.picture == picture
            }
        }
        guard let next, let source = parts.subject.entry(of: next)?.source else { return keepShown() }
        if running == nil { look(for: next, source) }
    }

    /// Forgets pictures in a client's open file if their item is neither shown nor in the queue: the file stays open
    /// while a picture refers to it.
    private func forgetHandedOver(_ wanted: [ItemID]) {
        known.removeAll { known in
            known.result.found.contains { $0.origin.holdsDescriptors } && !wanted.contains(known.item)
                && parts.subject.entry(of: known.item) == nil
        }
        previews.removeAll { preview in
            preview.found.origin.holdsDescriptors
                && !known.contains { $0.result.animated.contains { $0.artwork.id == preview.film } }
        }
    }

    /// Searches again after a change of the media roots; until then no picture of a search is available.
    func lookAgain() {
        running?.task.giveUp()
        running = nil
        known = []
        previews = []
        follow(parts.subject.state)
    }

    private func films(of item: ItemID) -> [String: String] {
        parts.rules.isAnimated ? parts.subject.entry(of: item)?.details?.given.animatedArtwork ?? [:] : [:]
    }

    /// The local picture that a client named with an item; nil: it named none.
    private func picture(of item: ItemID) -> String? {
        guard let text = parts.subject.entry(of: item)?.details?.given.artworkURL, case .path = MediaAddress(text)
        else { return nil }
        return text
    }

    private func look(for item: ItemID, _ source: MediaSource) {
        let task = ArtworkTask()
        let uri = source.uri
        let named = films(of: item)
        running = (item, uri, task)
        let (search, rules, roots) = (search, parts.rules, parts.settings.mediaRoots)
        var (films, refused) = paths(named, of: item, roots)
        let namedPicture = picture(of: item)
        let picture = namedPicture.flatMap { path(of: $0, "the picture", of: item, roots, &refused) }
        parts.workers.submit { [films] in
            search.search(
                source, rules, picture: picture, films: films, root: { roots.confinedPath(of: $0)?.root }, task)
        } _: { [weak self, refused] result in
            guard let self, running?.task === task else { return }
            running = nil
            var result = result
            result.failures += refused
            for failure in result.failures.prefix(1) { parts.log(failure) }
            known.removeAll { $0.item == item }
            known.append(Known(item: item, uri: uri, films: named, picture: namedPicture, result: result))
            if known.count > Self.remembered { known.removeFirst() }
            changed(item)
            follow(parts.subject.state)
        }
    }

    /// Paths of named films by their shapes, and texts about missing ones.
    private func paths(
        _ named: [String: String], of item: ItemID, _ roots: MediaRoots
    ) -> (films: [AnimatedShape: ConfinedPath], refused: [String]) {
        var films: [AnimatedShape: ConfinedPath] = [:]
        var refused: [String] = []
        for (shape, uri) in named.sorted(by: { $0.key < $1.key }) {
            guard let shape = AnimatedShape(rawValue: shape) else { continue }
            films[shape] = path(of: uri, "the animated picture", of: item, roots, &refused)
        }
        return (films, refused)
    }

    /// Path of a file that was named with an item; nil: the path is forbidden, and `refused` gets the reason.
    private func path(
        of uri: String, _ what: String, of item: ItemID, _ roots: MediaRoots, _ refused: inout [String]
    ) -> ConfinedPath? {
        let words = "cannot show \(what) “\(PrintableText.escaped(uri, limit: 200))”: "
        guard case .path(let path) = MediaAddress(uri), let name = FilePath(path.name) else {
            refused.append(words + "it is not a file on this host")
            return nil
        }
        if let confined = roots.confinedPath(of: path) { return confined }
        if isTrusted(item) { return ConfinedPath(root: path.folder, relative: name) }
        refused.append(words + "it is outside of the media roots")
        return nil
    }

    // MARK: Trust

    /// True if only the daemon's own user named the pictures of an item: they may lie outside the media roots or at
    /// this host's own addresses.
    func isTrusted(_ item: ItemID) -> Bool { parts.subject.entry(of: item)?.details?.hasOwnPictures == true }

    /// Address of an item's picture on the network, from a client or the stream itself.
    func address(of item: ItemID) -> (address: PictureFetch.Address, shown: String)? {
        guard let entry = parts.subject.entry(of: item), let details = entry.details else { return nil }
        let given = details.given.artworkURL
        guard let text = given ?? details.found.artworkURL,
            case .remote(let address, let shown) = MediaAddress(text)
        else { return nil }
        if given != nil {
            return (PictureFetch.Address(address, mayUseLoopback: isTrusted(item), wasPublic: false), shown)
        }
        guard case .remote(let media) = entry.source else { return nil }
        // A station may lead to loopback addresses only if it is at one itself.
        let host = media.shownAddress.split(separator: "/", maxSplits: 2).dropFirst().first ?? ""
        let isOnThisHost = ["127.", "localhost", "[::1]"].contains { host.hasPrefix($0) }
        return (
            PictureFetch.Address(
                address, mayUseLoopback: media.mayUseLoopback && isOnThisHost, wasPublic: media.wasPublic), shown
        )
    }
}
