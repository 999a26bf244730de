import ControlProtocol
import LinuxSystem
import MediaAccess
import PlaybackEngine
import StateKeeping

/// Numbers for the items of all sessions, reserved before they run out.
@PlayerLoop final class ItemNumbering {
    nonisolated let numbers: ItemNumbers
    nonisolated let lists: AddedLists
    private let workers: Workers

    /// Numbers noted in this state directory.
    init(_ loop: EventLoop, stateDirectory: String) {
        numbers = ItemNumbers(stateDirectory: stateDirectory)
        lists = AddedLists(stateDirectory: stateDirectory)
        workers = Workers(loop, name: "numbers")
    }

    /// Items with numbers, prepared for a queue. On a worker thread. Throws if no numbers are free.
    nonisolated func addition(of media: [ResolvedMedia]) throws(RPCError) -> Addition {
        Addition(media, try take(media.count), lists)
    }

    /// Numbers for a request. On a worker thread. Throws if none are free.
    nonisolated func take(_ count: Int) throws(RPCError) -> TakenNumbers {
        if let taken = numbers.take(count) { return taken }
        throw .commandFailed(.tooMany, "no \(count) ids in a row are free: clear the queues")
    }

    /// Reserves more numbers for items that cannot wait, if few are left.
    func prepareMore() {
        if numbers.isLow {
            workers.submit { [numbers] in
                numbers.reserveMore()
            } _: { _ in
            }
        }
    }

    /// Finds the numbers in use by the present queues, before the numbers restart at 1.
    func passOver(_ sessions: some Sequence<any PlaybackSession>) {
        guard numbers.wantsQueues() else { return }
        let queues = sessions.compactMap { ($0 as? LocalSession)?.methods.player.queue }
        workers.submit { [numbers] in
            numbers.pass(queues)
        } _: { _ in
        }
    }
}
