import CSystemd
import LinuxSystem

/// A watch of one unique name on the bus. It calls back once when the name has left the bus. It ends with its owner.
@PlayerLoop final class BusWatch {
    private var slot: OpaquePointer?
    private var gone: (@PlayerLoop () -> Void)?

    /// Asks the bus to report the end of `name`. `gone` runs on the loop, at most once: when the name has no owner any
    /// more, or when the bus refuses the watch. `gone` may release the watch. Nil: the request cannot be sent.
    init?(_ bus: OpaquePointer, name: String, _ gone: @escaping @PlayerLoop () -> Void) {
        self.gone = gone
        let match =
            "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
            + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)',arg2=''"
        let context = Unmanaged.passUnretained(self).toOpaque()
        let result = sd_bus_add_match_async(bus, &slot, match, BusWatch.lost, BusWatch.installed, context)
        guard result >= 0 else { return nil }
    }

    isolated deinit { sd_bus_slot_unref(slot) }

    private nonisolated static let lost: sd_bus_message_handler_t = { _, context, _ in
        BusWatch.end(context)
        return 0
    }

    private nonisolated static let installed: sd_bus_message_handler_t = { reply, context, _ in
        if sd_bus_message_is_method_error(reply, nil) > 0 { BusWatch.end(context) }
        return 0
    }

    private nonisolated static func end(_ context: UnsafeMutableRawPointer?) {
        let context = UInt(bitPattern: context)
        PlayerLoop.assumeIsolated {
            let watch = Unmanaged<BusWatch>.fromOpaque(UnsafeRawPointer(bitPattern: context)!).takeUnretainedValue()
            let gone = watch.gone
            watch.gone = nil
            gone?()
        }
    }
}
