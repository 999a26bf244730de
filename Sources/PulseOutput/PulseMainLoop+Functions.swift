import CPulse
import Glibc
import LinuxSystem

/// The twelve functions and `quit` of `pa_mainloop_api`. libpulse calls them only on the loop's thread, because all
/// calls into libpulse happen there. libpulse's handle owns its event until libpulse frees it.
func mainLoopFunctions() -> pa_mainloop_api {
    var api = pa_mainloop_api()
    api.io_new = { api, descriptor, flags, callback, context in
        guard let callback else { return nil }
        nonisolated(unsafe) let context = context
        let main = PulseMainLoop.from(api)
        return PlayerLoop.assumeIsolated {
            own(PulseDescriptorEvent(main, descriptor, flags.rawValue, callback, context))
        }
    }
    api.io_enable = { handle, flags in
        let event = object(handle, PulseDescriptorEvent.self)
        PlayerLoop.assumeIsolated { event.enable(flags.rawValue) }
    }
    api.io_free = { handle in
        let event = disown(handle, PulseDescriptorEvent.self)
        PlayerLoop.assumeIsolated { event.free() }
    }
    api.io_set_destroy = { handle, destroy in
        let event = object(handle, PulseDescriptorEvent.self)
        PlayerLoop.assumeIsolated { event.setDestroy(destroy) }
    }
    api.time_new = { api, time, callback, context in
        guard let callback else { return nil }
        nonisolated(unsafe) let context = context
        let main = PulseMainLoop.from(api)
        let wall = time?.pointee
        return PlayerLoop.assumeIsolated {
            let event = PulseTimeEvent(main, callback, context)
            event.restart(wall)
            return own(event)
        }
    }
    api.time_restart = { handle, time in
        let event = object(handle, PulseTimeEvent.self)
        let wall = time?.pointee
        PlayerLoop.assumeIsolated { event.restart(wall) }
    }
    api.time_free = { handle in
        let event = disown(handle, PulseTimeEvent.self)
        PlayerLoop.assumeIsolated { event.free() }
    }
    api.time_set_destroy = { handle, destroy in
        let event = object(handle, PulseTimeEvent.self)
        PlayerLoop.assumeIsolated { event.setDestroy(destroy) }
    }
    api.defer_new = { api, callback, context in
        guard let callback else { return nil }
        nonisolated(unsafe) let context = context
        let main = PulseMainLoop.from(api)
        return PlayerLoop.assumeIsolated { own(PulseDeferredEvent(main, callback, context)) }
    }
    api.defer_enable = { handle, enabled in
        let event = object(handle, PulseDeferredEvent.self)
        PlayerLoop.assumeIsolated { event.enable(enabled != 0) }
    }
    api.defer_free = { handle in
        let event = disown(handle, PulseDeferredEvent.self)
        PlayerLoop.assumeIsolated { event.free() }
    }
    api.defer_set_destroy = { handle, destroy in
        let event = object(handle, PulseDeferredEvent.self)
        PlayerLoop.assumeIsolated { event.setDestroy(destroy) }
    }
    // Only libpulse's own tools end their main loop this way; libpulse must not end the process's loop.
    api.quit = { _, _ in }
    return api
}

/// Makes a handle that owns the event.
private func own(_ event: AnyObject) -> OpaquePointer {
    OpaquePointer(Unmanaged.passRetained(event).toOpaque())
}

/// The event of a handle.
private func object<Event: AnyObject>(_ handle: OpaquePointer?, _: Event.Type) -> Event {
    Unmanaged<Event>.fromOpaque(UnsafeRawPointer(handle!)).takeUnretainedValue()
}

/// The event of a handle that is freed here.
private func disown<Event: AnyObject>(_ handle: OpaquePointer?, _: Event.Type) -> Event {
    Unmanaged<Event>.fromOpaque(UnsafeRawPointer(handle!)).takeRetainedValue()
}
