import ArtworkLookup
import LinuxSystem
import NowPlaying

/// Pictures from the network: the results of the last fetches, and the callers that wait for running ones. Each address is
/// fetched once.
@PlayerLoop final class RemotePictures {
    /// Result of a fetch: the picture and its path in the cache.
    typealias Fetched = Result<(artwork: Artwork, path: String), ArtworkError>
    /// A caller that waits for a fetch.
    typealias Waiter = @PlayerLoop (Fetched) -> Void

    private struct Fetch {
        let task: ArtworkTask
        var waiting: [Waiter]
    }

    /// Results by their addresses, the newest at the end.
    private var results: [(address: String, result: Result<Artwork, ArtworkError>)] = []
    /// Running fetches by their addresses.
    private var running: [String: Fetch] = [:]

    /// Addresses whose results are remembered, at most.
    private static let remembered = 64

    /// Result for an address; nil: it was not fetched lately.
    func result(of address: String) -> Result<Artwork, ArtworkError>? {
        results.last { $0.address == address }?.result
    }

    /// True while a fetch of this address runs.
    func isFetching(_ address: String) -> Bool { running[address] != nil }

    /// Adds a caller to the fetch of an address. Returns the task of a fetch to start; nil: one runs.
    func join(_ address: String, _ done: @escaping Waiter) -> ArtworkTask? {
        guard running[address] == nil else {
            running[address]?.waiting.append(done)
            return nil
        }
        let task = ArtworkTask()
        running[address] = Fetch(task: task, waiting: [done])
        return task
    }

    /// Ends the fetch of an address, and remembers its result unless it was abandoned, as it may be requested again.
    /// Returns the callers that wait for it.
    func end(_ address: String, _ result: Fetched) -> [Waiter] {
        guard let fetch = running.removeValue(forKey: address) else { return [] }
        if !fetch.task.abandoned.isSet {
            results.removeAll { $0.address == address }
            results.append((address, result.map(\.artwork)))
            if results.count > Self.remembered { results.removeFirst() }
        }
        return fetch.waiting
    }

    /// Abandons the running fetches of addresses for which `isWanted` returns false.
    func giveUp(unless isWanted: (String) -> Bool) {
        for (address, fetch) in running where !isWanted(address) { fetch.task.giveUp() }
    }
}
