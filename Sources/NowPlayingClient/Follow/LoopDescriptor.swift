import CLinux
import Glibc

/// A fixed descriptor in place of a changing one: readable when the watched descriptor is (epoll(7)).
final class LoopDescriptor {
    /// Descriptor for a loop of any kind.
    let number: Int32

    private var watched: Int32 = -1

    /// Watches no descriptor yet.
    init() throws(ClientError) {
        number = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard number >= 0 else { throw .system("epoll_create", errno) }
    }

    deinit { close(number) }

    /// Watches only `descriptor` from now on; negative: none.
    func watch(_ descriptor: Int32) {
        var event = epoll_event(events: UInt32(EPOLLIN.rawValue), data: epoll_data_t())
        // The number of a closed descriptor may belong to another one now, so removing it may fail harmlessly.
        if watched >= 0 { epoll_ctl(number, EPOLL_CTL_DEL, watched, &event) }
        watched = descriptor
        if descriptor >= 0 { epoll_ctl(number, EPOLL_CTL_ADD, descriptor, &event) }
    }
}
