import LinuxSystem
import MPDProtocol
import NowPlaying
import NowPlayingClient

/// Songs of requests, and the volume for clients.
extension PlayerMirror {
    /// The id of the song at an index. Throws MPD's message.
    func id(at index: Int) throws(MPDFailure) -> Int32 {
        guard queue.ids.indices.contains(index) else { throw MPDFailure(.argument, "Bad song index") }
        return queue.ids[index]
    }

    /// The id of an argument, if the queue has it. Throws MPD's message.
    func known(_ argument: Argument) throws(MPDFailure) -> Int32 {
        let number = try argument.count()
        guard let id = Int32(exactly: number), queue.index(of: id) != nil else {
            throw MPDFailure(.noExist, "No such song")
        }
        return id
    }

    /// The indexes of an argument. Throws MPD's message.
    func indices(_ argument: Argument) throws(MPDFailure) -> Range<Int> {
        let wanted = try argument.range()
        let count = queue.ids.count
        // The index after the last song gives an empty range, not a fault.
        guard let range = wanted.clipped(to: count) else {
            throw MPDFailure(.argument, "Bad song index")
        }
        return range
    }

    /// MPD's volume, 0 while muted; nil: there is no mixer.
    var clientVolume: Int64? {
        guard let state, let volume = state.volume, !isExternal else { return nil }
        return state.isMuted ? 0 : Int64(clamping: (volume * 100).rounded())
    }
}
