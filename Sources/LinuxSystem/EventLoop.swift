import CLinux
import CSystemd
import Glibc
package import NowPlaying

/// The event loop of the process: descriptors, one-shot deadlines, deferred work, signals. `sd-event` of libsystemd.
///
/// Nothing here repeats by itself: a wakeup has a descriptor, a signal, or a deadline that was set once as its cause.
@PlayerLoop package final class EventLoop {
    /// The loop of the main thread, served by `PlayerLoop.run`.
    package static let current = EventLoop()

    let event: OpaquePointer
    /// Handlers deferred until the next turn; nil: none.
    private var waiting: Batch?
    /// Handlers deferred before a test began its own time.
    private var aside: Batch?
    /// True from `separateDeferred()` to `joinDeferred()`.
    private var isSeparated = false
    /// Deferred source that releases the pages of the program; nil: not needed yet.
    private var pages: OpaquePointer?

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

    /// Attaches a connection of sd-bus (`sd_bus *`) to this loop. Returns 0, or `errno` below zero.
    package func attach(_ bus: OpaquePointer) -> Int32 {
        sd_bus_attach_event(bus, event, Int32(SD_EVENT_PRIORITY_NORMAL))
    }

    /// Detaches the connection.
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

    /// Calls `handler` once, at this instant or as soon after it as the kernel can (accuracy 1 µs), and then releases
    /// the handler. A release of the source before that cancels the call.
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

    /// Calls `handler` in every turn of the loop while the source is enabled; it begins enabled. Disable it when there
    /// is no work, or the process spins. An enabled source runs before all events that become ready later: for
    /// continued work, release it and make a new one in each turn. `whenIdle`: only in turns without other events.
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

    /// Releases the pages of the program when the loop has nothing left to do, as its last action before it waits, unless
    /// they are kept by then (`ProgramPages`). A handler of the loop that releases them brings back half a megabyte on
    /// the way to the wait.
    package func giveBackPages() {
        guard !isSeparated, !ProgramPages.isKept else { return }
        if pages == nil {
            guard sd_event_add_defer(event, &pages, linux_give_back_before_wait, nil) >= 0 else { return }
            sd_event_source_set_priority(pages, Int64(SD_EVENT_PRIORITY_IDLE))
        }
        sd_event_source_set_enabled(pages, Int32(SD_EVENT_ONESHOT))
    }

    /// Calls `handler` in the turn after each one in which another handler of the loop was called, while the source is
    /// enabled; it begins enabled. It causes no wakeup by itself.
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

    /// Calls `handler` once, in the next turn of the loop, after all handlers that were deferred before it. Not
    /// cancellable; for work that must not run inside the present call.
    package func later(_ handler: @escaping @PlayerLoop () -> Void) {
        if let waiting { return waiting.handlers.append(handler) }
        let batch = Batch(handler)
        waiting = batch
        // One source for all handlers of a turn: the order of several sources in sd-event is undefined.
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

    /// Separates the presently deferred work from later work, until `joinDeferred()`. For tests with their own time, in
    /// which the system's next turn does not come. No pages are released meanwhile: other threads decide that for all of the
    /// process, and a release is a turn of the loop.
    package func separateDeferred() {
        isSeparated = true
        if let pages { sd_event_source_set_enabled(pages, Int32(SD_EVENT_OFF)) }
        aside = waiting
        waiting = nil
    }

    /// Ends `separateDeferred()`; drops work that was deferred meanwhile and did not run.
    package func joinDeferred() {
        isSeparated = false
        waiting = aside
        aside = nil
    }

    /// Handlers that were deferred until the same turn of the loop.
    @PlayerLoop private final class Batch {
        var handlers: [@PlayerLoop () -> Void]
        var done = 0
        var source: EventSource?

        init(_ first: @escaping @PlayerLoop () -> Void) { handlers = [first] }
    }

    /// Calls `handler` on this signal. All threads must have blocked it (`SignalMask.block`).
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

/// One event source of the loop. It ends when this object is released; its own handler may release it.
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

    /// Changes the watched events of the descriptor.
    package func setEvents(_ events: UInt32) { sd_event_source_set_io_events(pointer, events) }

    /// Lets the handlers of all usual sources run first.
    package func yieldToOthers() { sd_event_source_set_priority(pointer, Int64(SD_EVENT_PRIORITY_NORMAL) + 50) }

    /// Enables or disables the source; a disabled one costs nothing.
    package func setEnabled(_ enabled: Bool) {
        sd_event_source_set_enabled(pointer, Int32(enabled ? SD_EVENT_ON : SD_EVENT_OFF))
    }

    /// Moves a deadline, or sets one that has passed again. A due deadline that gets a past time keeps its turn:
    /// otherwise a busy loop that sets it in each turn would never call it.
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

    /// Ends the source now: its handler is released and not called again.
    package func release() {
        sd_event_source_disable_unref(pointer)
        pointer = nil
        handler = nil
    }

    isolated deinit {
        if pointer != nil { sd_event_source_disable_unref(pointer) }
    }

    /// Calls the handler of the source in a C callback's context. The handler may release the source.
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
