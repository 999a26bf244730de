import CLinux
import Glibc

/// Stands for a descriptor that changes: readable when the one is that is watched at the moment (epoll(7)).
final class LoopDescriptor {
    /// For a loop of any kind.
    let number: Int32

    private var watched: Int32 = -1

    /// Watches nothing yet.
    init() throws(ClientError) {
        number = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard number >= 0 else { throw .system("epoll_create", errno) }
    }

    deinit { close(number) }

    /// From now on watches `descriptor` alone; a negative one: nothing.
    func watch(_ descriptor: Int32) {
        var event = epoll_event(events: UInt32(EPOLLIN.rawValue), data: epoll_data_t())
        // The number of one that was closed may have been given to another: taken out where it is in, never mind if not.
        if watched >= 0 { epoll_ctl(number, EPOLL_CTL_DEL, watched, &event) }
        watched = descriptor
        if descriptor >= 0 { epoll_ctl(number, EPOLL_CTL_ADD, descriptor, &event) }
    }
}
