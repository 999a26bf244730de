import CPulse
import Glibc
import LinuxSystem

/// A descriptor that libpulse watches.
@PlayerLoop final class PulseDescriptorEvent {
    private let main: PulseMainLoop
    private let descriptor: Int32
    private let callback: pa_io_event_cb_t
    private let context: UnsafeMutableRawPointer?
    /// Nil after `free`.
    private var watch: DescriptorWatch?
    private var isWidened = false
    private var destroy: pa_io_event_destroy_cb_t?

    /// Begins to watch; `flags` are libpulse's (`pa_io_event_flags`). Lives until `free`.
    init(
        _ main: PulseMainLoop, _ descriptor: Int32, _ flags: UInt32, _ callback: @escaping pa_io_event_cb_t,
        _ context: UnsafeMutableRawPointer?
    ) {
        self.main = main
        self.descriptor = descriptor
        self.callback = callback
        self.context = context
        watch = main.watch(descriptor, epollEvents(flags), for: self)
    }

    /// Calls libpulse.
    func happened(_ events: UInt32) {
        callback(main.api, handle, descriptor, pulseFlags(events), context)
    }

    private var handle: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    /// Enables these events, and no others.
    func enable(_ flags: UInt32) {
        if flags & PA_IO_EVENT_OUTPUT.rawValue != 0, !isWidened { widen() }
        watch?.setEvents(epollEvents(flags))
    }

    /// Gives a socket that is full for the first time the longest queue that the system allows (`net.core.wmem_max`).
    /// libpulse sets 64 KiB, with which a refill of four seconds wakes us up to six times.
    private func widen() {
        isWidened = true
        var bytes: Int32 = 1 << 20
        _ = setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sets libpulse's function for the end of the event.
    func setDestroy(_ destroy: pa_io_event_destroy_cb_t?) { self.destroy = destroy }

    /// Ends the watch, and calls `destroy`; libpulse keeps the descriptor.
    func free() {
        if let watch { main.leave(watch) }
        watch = nil
        destroy?(main.api, handle, context)
    }
}

/// The kernel's watch of a descriptor, for one event of libpulse after the other.
///
/// It watches a copy of the descriptor. libpulse may close its own within a call, before the watch ends, and the open file
/// may live on: the server has the other end of a channel in shared memory, a new process everything until its start. The
/// kernel would then report a watch whose descriptor has no number, by which alone it can be ended.
@PlayerLoop final class DescriptorWatch {
    private unowned let main: PulseMainLoop
    /// The watched descriptor, which is libpulse's.
    let descriptor: Int32
    /// Device and number of a socket, else nil: other files have no number of their own. A number of a descriptor can come
    /// again with another file.
    private let socket: (dev_t, ino_t)?
    /// Our own copy of the descriptor; -1: none could be made, or the watch has ended.
    private var copy: Int32
    private var source: EventSource?
    private var events: UInt32
    /// Nil: libpulse has freed it.
    private weak var event: PulseDescriptorEvent?

    /// Begins to watch.
    init(_ main: PulseMainLoop, _ descriptor: Int32, _ events: UInt32, for event: PulseDescriptorEvent) {
        self.main = main
        self.descriptor = descriptor
        self.events = events
        self.event = event
        socket = Self.socket(descriptor)
        copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        if copy >= 0 { source = main.loop.watch(copy, events) { self.happened($0) } }
    }

    private func happened(_ events: UInt32) {
        guard let event else { return }
        main.call(self) { event.happened(events) }
    }

    /// True if the descriptor still is the socket that is watched.
    var isOfSameSocket: Bool {
        guard let socket, let now = Self.socket(descriptor) else { return false }
        return socket == now
    }

    /// Watches these events for another event of libpulse from now on.
    func take(_ event: PulseDescriptorEvent, _ events: UInt32) {
        self.event = event
        setEvents(events)
    }

    /// Watches these events, and no others.
    func setEvents(_ events: UInt32) {
        guard events != self.events else { return }
        self.events = events
        source?.setEvents(events)
    }

    /// Ends the watch.
    func end() {
        event = nil
        source?.release()
        source = nil
        if copy >= 0 { close(copy) }
        copy = -1
    }

    private static func socket(_ descriptor: Int32) -> (dev_t, ino_t)? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return (status.st_dev, status.st_ino)
    }
}
