import CLinux
package import CPulse
import Glibc
package import LinuxSystem
import NowPlaying

/// Serves libpulse from our event loop: the `pa_mainloop_api` of a context.
///
/// Rules of the interface (pulse/mainloop-api.h): an event may be freed inside its own callback; freeing it calls its
/// destroy callback; deferred events run in every turn while they are enabled; times use the wall clock, because
/// libpulse uses the monotonic one only with main loops of its own.
@PlayerLoop package final class PulseMainLoop {
    /// Argument for `pa_context_new`; valid while this object lives, which must outlive every context.
    package let api: UnsafeMutablePointer<pa_mainloop_api>
    let loop: EventLoop
    /// The kernel's watch that calls libpulse now.
    private var calling: DescriptorWatch?
    /// True if libpulse has freed the event of that watch during the call, and made no other for the descriptor.
    private var isFree = false

    /// An interface to this loop.
    package init(_ loop: EventLoop) {
        self.loop = loop
        api = .allocate(capacity: 1)
        api.initialize(to: mainLoopFunctions())
        api.pointee.userdata = Unmanaged.passUnretained(self).toOpaque()
    }

    isolated deinit { api.deallocate() }

    /// A watch of a descriptor for a new event. libpulse frees the event of its connection before each read and makes another
    /// one after that: then it is the same watch, without calls of the kernel.
    func watch(_ descriptor: Int32, _ events: UInt32, for event: PulseDescriptorEvent) -> DescriptorWatch {
        if isFree, let calling, calling.descriptor == descriptor {
            isFree = false
            if calling.isOfSameSocket {
                calling.take(event, events)
                return calling
            }
            calling.end()
        }
        return DescriptorWatch(self, descriptor, events, for: event)
    }

    /// Ends a watch whose event is freed; the one that calls now ends after the call, unless it is taken again.
    func leave(_ watch: DescriptorWatch) {
        if watch === calling { isFree = true } else { watch.end() }
    }

    /// Calls libpulse for a watch.
    func call(_ watch: DescriptorWatch, _ body: () -> Void) {
        calling = watch
        body()
        calling = nil
        if isFree { watch.end() }
        isFree = false
    }

    /// The object of the interface that libpulse passes to a callback.
    nonisolated static func from(_ api: UnsafeMutablePointer<pa_mainloop_api>?) -> PulseMainLoop {
        Unmanaged.fromOpaque(api!.pointee.userdata!).takeUnretainedValue()
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
    private var destroy: pa_time_event_destroy_cb_t?

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

    /// Sets libpulse's function for the end of the event.
    func setDestroy(_ destroy: pa_time_event_destroy_cb_t?) { self.destroy = destroy }

    /// Drops the deadline, and calls `destroy`.
    func free() {
        source?.release()
        source = nil
        destroy?(main.api, handle, context)
    }

    /// The monotonic instant that is as far from now as `wall` is on the wall clock. Later changes of the wall clock
    /// have no effect.
    private func monotonic(_ wall: timeval) -> MonotonicTime {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let distance =
            (Int64(wall.tv_sec) - Int64(now.tv_sec)) * 1_000_000_000 + Int64(wall.tv_usec) * 1000
            - Int64(now.tv_nsec)
        return MonotonicTime(nanoseconds: EventLoop.now.nanoseconds + max(0, distance))
    }
}

/// Work that libpulse defers to the next turn of the loop.
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
    private var destroy: pa_defer_event_destroy_cb_t?

    /// Starts enabled: the callback runs in the next turn of the loop. Lives until `free`.
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

    /// Sets libpulse's function for the end of the event.
    func setDestroy(_ destroy: pa_defer_event_destroy_cb_t?) { self.destroy = destroy }

    /// Ends the callbacks, and calls `destroy`.
    func free() {
        enabled = false
        schedule()
        destroy?(main.api, handle, context)
    }
}

/// epoll's events for libpulse's flags.
func epollEvents(_ flags: UInt32) -> UInt32 {
    var events: UInt32 = 0
    if flags & PA_IO_EVENT_INPUT.rawValue != 0 { events |= EPOLLIN.rawValue }
    if flags & PA_IO_EVENT_OUTPUT.rawValue != 0 { events |= EPOLLOUT.rawValue }
    return events
}

/// libpulse's flags for epoll's events.
func pulseFlags(_ events: UInt32) -> pa_io_event_flags_t {
    var flags: UInt32 = 0
    if events & EPOLLIN.rawValue != 0 { flags |= PA_IO_EVENT_INPUT.rawValue }
    if events & EPOLLOUT.rawValue != 0 { flags |= PA_IO_EVENT_OUTPUT.rawValue }
    if events & EPOLLHUP.rawValue != 0 { flags |= PA_IO_EVENT_HANGUP.rawValue }
    if events & EPOLLERR.rawValue != 0 { flags |= PA_IO_EVENT_ERROR.rawValue }
    return pa_io_event_flags_t(rawValue: flags)
}
