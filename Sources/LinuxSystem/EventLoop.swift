import CLinux
import CSystemd
import Glibc
package import NowPlaying

/// The event loop of the process: descriptors, one-shot deadlines, deferred work, signals. `sd-event` of libsystemd.
///
/// Nothing here repeats by itself: a wakeup is caused by a descriptor, a signal, or a deadline that somebody set once.
@PlayerLoop package final class EventLoop {
    /// The loop of the main thread, served by `PlayerLoop.run`.
    package static let current = EventLoop()

    let event: OpaquePointer
    /// Put off until the next turn; nil: nothing is.
    private var waiting: Batch?
    /// Put off before a test began a time of its own.
    private var aside: Batch?

    private init() {
        var made: OpaquePointer?
        let result = sd_event_default(&made)
        guard result >= 0, let made else {
            fatalError("the event loop can't be made: \(String(cString: strerror(-result)))")
        }
        event = made
    }

    /// Serves events until `exit`.
    func serve() -> Int32 { max(0, sd_event_loop(event)) }

    /// Serves a connection of sd-bus (`sd_bus *`) on this loop from now on. Returns 0, or `errno` below zero.
    package func attach(_ bus: OpaquePointer) -> Int32 {
        sd_bus_attach_event(bus, event, Int32(SD_EVENT_PRIORITY_NORMAL))
    }

    /// Serves it no longer.
    package func detach(_ bus: OpaquePointer) { sd_bus_detach_event(bus) }

    /// Ends the loop after the present turn.
    package func exit(_ status: Int32) { sd_event_exit(event, status) }

    /// Calls `handler` whenever one of `events` (EPOLLIN, EPOLLOUT, …) holds on the descriptor, until the source is
    /// released. EPOLLHUP and EPOLLERR are always reported. The descriptor stays the caller's; one descriptor can be watched
    /// once at a time. Nil: it can't be watched (EPERM: a regular file), or memory is short.
    package func watch(
        _ descriptor: Int32, _ events: UInt32, _ handler: @escaping @PlayerLoop (_ events: UInt32) -> Void
    ) -> EventSource? {
        let source = EventSource(.descriptor(handler))
        let result = sd_event_add_io(
            event, &source.pointer, descriptor, events,
            { _, _, events, context in
                EventSource.dispatch(context) { if case .descriptor(let handler) = $0 { handler(events) } }
            }, source.context)
        return result < 0 ? nil : source
    }

    /// Calls `handler` once, at this instant or as soon after it as the kernel can (accuracy 1 µs). Also releases what
    /// the handler holds. Releasing the source before that cancels it.
    package func deadline(_ time: MonotonicTime, _ handler: @escaping @PlayerLoop () -> Void) -> EventSource {
        let source = EventSource(.once(handler))
        let microseconds = time.microsecondsRoundedUp
        let result = sd_event_add_time(
            event, &source.pointer, CLOCK_MONOTONIC, microseconds, 1,
            { _, _, context in
                EventSource.dispatch(context) { if case .once(let handler) = $0 { handler() } }
            }, source.context)
        precondition(result >= 0, "no timer can be had: out of descriptors or memory")
        return source
    }

    /// Calls `handler` in every turn of the loop while the source is enabled; begins enabled. Disable it when there is
    /// nothing to do, or the process spins. As long as it is enabled it runs before all that becomes ready later: for
    /// work that continues, release it and make a new one in each turn. `whenIdle`: only in turns that have nothing else.
    package func deferred(whenIdle: Bool = false, _ handler: @escaping @PlayerLoop () -> Void) -> EventSource {
        let source = EventSource(.repeated(handler))
        let result = sd_event_add_defer(
            event, &source.pointer,
            { _, context in
                EventSource.dispatch(context) { if case .repeated(let handler) = $0 { handler() } }
            }, source.context)
        precondition(result >= 0, "no deferred work can be had: out of memory")
        if whenIdle { sd_event_source_set_priority(source.pointer, Int64(SD_EVENT_PRIORITY_IDLE)) }
        sd_event_source_set_enabled(source.pointer, Int32(SD_EVENT_ON))
        return source
    }

    /// Calls `handler` in the turn after each one in which another handler of the loop was called, while the source is enabled;
    /// begins enabled. It wakes nobody by itself.
    package func afterOthers(_ handler: @escaping @PlayerLoop () -> Void) -> EventSource {
        let source = EventSource(.repeated(handler))
        let result = sd_event_add_post(
            event, &source.pointer,
            { _, context in
                EventSource.dispatch(context) { if case .repeated(let handler) = $0 { handler() } }
            }, source.context)
        precondition(result >= 0, "no work after others can be had: out of memory")
        return source
    }

    /// Calls `handler` once, in the next turn of the loop, after all that was put off before it. Not cancellable; for work
    /// that must not run inside the present call.
    package func later(_ handler: @escaping @PlayerLoop () -> Void) {
        if let waiting { return waiting.handlers.append(handler) }
        let batch = Batch(handler)
        waiting = batch
        // One handler in a turn: sd-event does not say in which order it calls several sources.
        batch.source = deferred { [unowned self] in
            if waiting === batch { waiting = nil }
            let next = batch.handlers[batch.done]
            batch.done += 1
            if batch.done == batch.handlers.count {
                batch.source?.release()
                batch.source = nil
            }
            next()
        }
    }

    /// Keeps the work that is put off now apart from the work that follows, until `joinDeferred()`. For tests on a time of
    /// their own: the system's next turn does not come in it.
    package func separateDeferred() {
        aside = waiting
        waiting = nil
    }

    /// Ends `separateDeferred()`; work of that time that did not run is dropped.
    package func joinDeferred() {
        waiting = aside
        aside = nil
    }

    /// Handlers that were put off until the same turn of the loop.
    @PlayerLoop private final class Batch {
        var handlers: [@PlayerLoop () -> Void]
        var done = 0
        var source: EventSource?

        init(_ first: @escaping @PlayerLoop () -> Void) { handlers = [first] }
    }

    /// Calls `handler` on this signal, which must have been blocked in every thread (`SignalMask.block`).
    package func signal(_ number: Int32, _ handler: @escaping @PlayerLoop () -> Void) -> EventSource? {
        let source = EventSource(.repeated(handler))
        let result = sd_event_add_signal(
            event, &source.pointer, number,
            { _, _, context in
                EventSource.dispatch(context) { if case .repeated(let handler) = $0 { handler() } }
            }, source.context)
        return result < 0 ? nil : source
    }

    /// The present instant, asked from the kernel (never the loop's cached time).
    package nonisolated static var now: MonotonicTime { .now }
}

/// One thing that the loop watches. It ends when this object is released; it may be released inside its own handler.
@PlayerLoop package final class EventSource {
    enum Handler {
        /// Called with the events (EPOLLIN, EPOLLOUT, …) each time one of them holds.
        case descriptor(@PlayerLoop (UInt32) -> Void)
        case once(@PlayerLoop () -> Void)
        case repeated(@PlayerLoop () -> Void)
    }

    fileprivate(set) var pointer: OpaquePointer?
    private var handler: Handler?

    fileprivate init(_ handler: Handler) { self.handler = handler }

    fileprivate var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Changes what is watched on the descriptor.
    package func setEvents(_ events: UInt32) { sd_event_source_set_io_events(pointer, events) }

    /// Turns the source on or off; off, it costs nothing.
    package func setEnabled(_ enabled: Bool) {
        sd_event_source_set_enabled(pointer, Int32(enabled ? SD_EVENT_ON : SD_EVENT_OFF))
    }

    /// Moves a deadline that has not come yet, or makes one that has come due again. One that is due already and shall be
    /// keeps its turn: a deadline that is set anew in each turn of a busy loop would never be called.
    package func setDeadline(_ time: MonotonicTime) {
        let now = UInt64(max(0, EventLoop.now.nanoseconds / 1000))
        var isArmed: Int32 = 0
        var due: UInt64 = 0
        if time.nanoseconds / 1000 < now, sd_event_source_get_enabled(pointer, &isArmed) > 0,
            sd_event_source_get_time(pointer, &due) >= 0, due <= now
        {
            return
        }
        sd_event_source_set_time(pointer, time.microsecondsRoundedUp)
        sd_event_source_set_enabled(pointer, Int32(SD_EVENT_ONESHOT))
    }

    /// Ends it now: the handler is not called again and what it holds is released.
    package func release() {
        sd_event_source_disable_unref(pointer)
        pointer = nil
        handler = nil
    }

    isolated deinit {
        if pointer != nil { sd_event_source_disable_unref(pointer) }
    }

    /// Calls the handler of the source behind a C callback's context, which the handler may release meanwhile.
    fileprivate nonisolated static func dispatch(
        _ context: UnsafeMutableRawPointer?, _ call: @PlayerLoop (Handler) -> Void
    ) -> Int32 {
        let address = UInt(bitPattern: context)
        PlayerLoop.assumeIsolated {
            let source = Unmanaged<EventSource>.fromOpaque(UnsafeRawPointer(bitPattern: address)!).takeUnretainedValue()
            withExtendedLifetime(source) {
                if let handler = source.handler { call(handler) }
            }
        }
        return 0
    }
}
