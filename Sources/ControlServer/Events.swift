import CLinux

/// epoll's events of a descriptor.
enum Events {
    static let readable = UInt32(EPOLLIN.rawValue)
    static let writable = UInt32(EPOLLOUT.rawValue)
    /// Both directions are closed, or the descriptor is broken.
    static let gone = UInt32(EPOLLHUP.rawValue) | UInt32(EPOLLERR.rawValue)
}
