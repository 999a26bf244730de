import CLinux
import Glibc
import LinuxSystem

/// Many descriptors behind one source of the loop.
///
/// The loop queries the kernel after each source that it serves, and the kernel looks at all ready sources. A state that
/// reaches 200 connections at once would cost 200 × 200 looks. With the set, one query serves all connections.
@PlayerLoop final class ReadySet {
    /// A descriptor of the set. It ends when it is released, also inside a handler.
    @PlayerLoop final class Member {
        fileprivate let handler: @PlayerLoop (UInt32) -> Void
        private let descriptor: Int32
        private let number: UInt64
        private var events: UInt32
        /// The set lives as long as its members.
        private var set: ReadySet?

        fileprivate init(
            _ set: ReadySet, _ descriptor: Int32, _ number: UInt64, _ events: UInt32,
            _ handler: @escaping @PlayerLoop (UInt32) -> Void
        ) {
            self.set = set
            self.descriptor = descriptor
            self.number = number
            self.events = events
            self.handler = handler
        }

        /// Changes the events (EPOLLIN, EPOLLOUT, …) that are watched. EPOLLHUP and EPOLLERR are always reported.
        func setEvents(_ events: UInt32) {
            guard events != self.events, let set else { return }
            self.events = events
            set.control(EPOLL_CTL_MOD, descriptor, number, events)
        }

        /// Removes the descriptor: its handler is not called again. The descriptor must be open.
        func release() {
            set?.forget(number, descriptor)
            set = nil
        }
    }

    private let descriptor: OwnedDescriptor
    private var source: EventSource?
    private var members: [UInt64: Member] = [:]
    private var last: UInt64 = 0

    /// Maximum number of descriptors that the set serves in one turn of the loop: others wait for no more of them.
    private static let turn = 32

    /// An empty set. Throws when the process has no descriptor left.
    init(_ loop: EventLoop) throws(SystemError) {
        let made = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard made >= 0 else { throw SystemError("epoll_create") }
        descriptor = OwnedDescriptor(made)
        source = loop.watch(made, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in serve() }
        guard source != nil else { throw SystemError("watch a set of connections", code: ENOMEM) }
    }

    isolated deinit { source?.release() }

    /// Calls `handler` when one of `events` holds on the descriptor. The caller keeps its ownership. Nil: it cannot be watched.
    func watch(
        _ watched: Int32, _ events: UInt32, _ handler: @escaping @PlayerLoop (UInt32) -> Void
    ) -> Member? {
        last += 1
        guard control(EPOLL_CTL_ADD, watched, last, events) else { return nil }
        let member = Member(self, watched, last, events, handler)
        members[last] = member
        return member
    }

    @discardableResult fileprivate func control(
        _ action: Int32, _ watched: Int32, _ number: UInt64, _ events: UInt32
    ) -> Bool {
        var event = epoll_event()
        event.events = events
        event.data.u64 = number
        return epoll_ctl(descriptor.number, action, watched, &event) == 0
    }

    fileprivate func forget(_ number: UInt64, _ watched: Int32) {
        guard members.removeValue(forKey: number) != nil else { return }
        control(EPOLL_CTL_DEL, watched, number, 0)
    }

    private func serve() {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.turn) { space in
            let count = epoll_wait(descriptor.number, space.baseAddress!, Int32(space.count), 0)
            guard count > 0 else { return }
            // A handler may have ended later members.
            for event in space[..<Int(count)] { members[event.data.u64]?.handler(event.events) }
        }
    }
}
