import CLinux
package import CPulse
import Glibc
package import LinuxSystem
import NowPlaying

/// Serves libpulse from our event loop: the `pa_mainloop_api` that a context is made with.
///
/// Rules of the interface (pulse/mainloop-api.h): an event may be freed inside its own callback; its destroy callback is
/// called when it is freed; deferred events run in every turn while they are enabled; times are of the wall clock, because
/// libpulse uses the monotonic one only with main loops of its own.
@PlayerLoop package final class PulseMainLoop {
    /// Argument for `pa_context_new`; valid as long as this object lives, which must be longer than any context.
    package let api: UnsafeMutablePointer<pa_mainloop_api>
    let loop: EventLoop

    /// An interface to this loop.
    package init(_ loop: EventLoop) {
        self.loop = loop
        api = .allocate(capacity: 1)
        api.initialize(to: mainLoopFunctions())
        api.pointee.userdata = Unmanaged.passUnretained(self).toOpaque()
    }

    isolated deinit { api.deallocate() }

    /// The object of the interface that libpulse hands back.
    nonisolated static func from(_ api: UnsafeMutablePointer<pa_mainloop_api>?) -> PulseMainLoop {
        Unmanaged.fromOpaque(api!.pointee.userdata!).takeUnretainedValue()
    }
}

/// A descriptor that libpulse watches.
@PlayerLoop final class PulseDescriptorEvent {
    typealias Callback = pa_io_event_cb_t
    private let api: UnsafeMutablePointer<pa_mainloop_api>
    private let descriptor: Int32
    /// Our own copy of the descriptor where it is watched twice, else -1.
    private var duplicate: Int32 = -1
    private let callback: Callback
    private let context: UnsafeMutableRawPointer?
    private var source: EventSource?
    private var isWidened = false
    var destroy: pa_io_event_destroy_cb_t?

    /// Begins to watch; `flags` are libpulse's (`pa_io_event_flags`). Lives until `free`.
    init(
        _ main: PulseMainLoop, _ descriptor: Int32, _ flags: UInt32, _ callback: @escaping Callback,
        _ context: UnsafeMutableRawPointer?
    ) {
        api = main.api
        self.descriptor = descriptor
        self.callback = callback
        self.context = context
        let handler: @PlayerLoop (UInt32) -> Void = { self.happened($0) }
        source = main.loop.watch(descriptor, epollEvents(flags), handler)
        if source == nil {
            // epoll takes each descriptor once; a copy of it counts as another.
            duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            if duplicate >= 0 { source = main.loop.watch(duplicate, epollEvents(flags), handler) }
        }
    }

    private func happened(_ events: UInt32) {
        callback(api, handle, descriptor, pulseFlags(events), context)
    }

    private var handle: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    /// Enables these events, and no others.
    func enable(_ flags: UInt32) {
        if flags & PA_IO_EVENT_OUTPUT.rawValue != 0, !isWidened { widen() }
        source?.setEvents(epollEvents(flags))
    }

    /// The socket is full for the first time: gives it the longest queue that the system allows (`net.core.wmem_max`).
    /// libpulse asks for 64 KiB, and then a refill of four seconds wakes us up to six times.
    private func widen() {
        isWidened = true
        var bytes: Int32 = 1 << 20
        _ = setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Ends the watch, and calls `destroy`; the descriptor stays libpulse's.
    func free() {
        source?.release()
        source = nil
        if duplicate >= 0 { close(duplicate) }
        duplicate = -1
        destroy?(api, handle, context)
    }
}

/// A one-shot deadline of libpulse.
@PlayerLoop final class PulseTimeEvent {
    typealias Callback = pa_time_event_cb_t
    private let main: PulseMainLoop
    private let callback: Callback
    private let context: UnsafeMutableRawPointer?
    private var wall = timeval()
    private var source: EventSource?
    var destroy: pa_time_event_destroy_cb_t?

    /// A deadline that is not set yet. Lives until `free`.
    init(_ main: PulseMainLoop, _ callback: @escaping Callback, _ context: UnsafeMutableRawPointer?) {
        self.main = main
        self.callback = callback
        self.context = context
    }

    /// Calls the callback once at this instant of the wall clock; nil: not at all.
    func restart(_ time: timeval?) {
        source?.release()
        source = nil
        guard let time else { return }
        wall = time
        source = main.loop.deadline(monotonic(time)) { self.happened() }
    }

    private func happened() {
        var time = wall
        callback(main.api, handle, &time, context)
    }

    private var handle: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    /// Forgets the deadline, and calls `destroy`.
    func free() {
        source?.release()
        source = nil
        destroy?(main.api, handle, context)
    }

    /// The monotonic instant that is as far away from now as `wall` is on the wall clock. What the wall clock does later
    /// no longer matters.
    private func monotonic(_ wall: timeval) -> MonotonicTime {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let distance =
            (Int64(wall.tv_sec) - Int64(now.tv_sec)) * 1_000_000_000 + Int64(wall.tv_usec) * 1000
            - Int64(now.tv_nsec)
        return MonotonicTime(nanoseconds: EventLoop.now.nanoseconds + max(0, distance))
    }
}

/// Work that libpulse puts off to the next turn of the loop.
///
/// Each run has a source of its own: sd-event keeps a deferred source that stays enabled in front of everything that
/// becomes ready later, so one that libpulse leaves enabled would starve the rest of the process.
@PlayerLoop final class PulseDeferredEvent {
    typealias Callback = pa_defer_event_cb_t
    private let main: PulseMainLoop
    private let callback: Callback
    private let context: UnsafeMutableRawPointer?
    private var source: EventSource?
    private var enabled = true
    var destroy: pa_defer_event_destroy_cb_t?

    /// Begins enabled: the callback comes in the next turn of the loop. Lives until `free`.
    init(_ main: PulseMainLoop, _ callback: @escaping Callback, _ context: UnsafeMutableRawPointer?) {
        self.main = main
        self.callback = callback
        self.context = context
        schedule()
    }

    private func schedule() {
        source?.release()
        source = enabled ? main.loop.deferred { self.happened() } : nil
    }

    private func happened() {
        schedule()
        callback(main.api, handle, context)
    }

    private var handle: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    /// Enables or disables the callback in each turn of the loop.
    func enable(_ enabled: Bool) {
        guard enabled != self.enabled else { return }
        self.enabled = enabled
        schedule()
    }

    /// Calls the callback no more, and calls `destroy`.
    func free() {
        enabled = false
        schedule()
        destroy?(main.api, handle, context)
    }
}

private func epollEvents(_ flags: UInt32) -> UInt32 {
    var events: UInt32 = 0
    if flags & PA_IO_EVENT_INPUT.rawValue != 0 { events |= EPOLLIN.rawValue }
    if flags & PA_IO_EVENT_OUTPUT.rawValue != 0 { events |= EPOLLOUT.rawValue }
    return events
}

private func pulseFlags(_ events: UInt32) -> pa_io_event_flags_t {
    var flags: UInt32 = 0
    if events & EPOLLIN.rawValue != 0 { flags |= PA_IO_EVENT_INPUT.rawValue }
    if events & EPOLLOUT.rawValue != 0 { flags |= PA_IO_EVENT_OUTPUT.rawValue }
    if events & EPOLLHUP.rawValue != 0 { flags |= PA_IO_EVENT_HANGUP.rawValue }
    if events & EPOLLERR.rawValue != 0 { flags |= PA_IO_EVENT_ERROR.rawValue }
    return pa_io_event_flags_t(rawValue: flags)
}
