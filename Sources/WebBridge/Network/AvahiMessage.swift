import CSystemd
import LinuxSystem

/// Arguments of messages to and from Avahi.
@PlayerLoop enum AvahiMessage {
    /// The next argument: a text, or an object path if `kind` is `o`; nil: it has another type.
    static func text(_ message: OpaquePointer, _ kind: Character) -> String? {
        var result: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(message, code(kind), &result) > 0, let result else { return nil }
        return String(cString: result)
    }

    /// The next argument; nil: it is not a number.
    static func number(_ message: OpaquePointer) -> Int32? {
        var result: Int32 = 0
        return sd_bus_message_read_basic(message, code("i"), &result) > 0 ? result : nil
    }

    /// The unique name of the sender; empty: there is none.
    static func sender(_ message: OpaquePointer) -> String {
        sd_bus_message_get_sender(message).map { String(cString: $0) } ?? ""
    }

    /// The message of an error.
    static func error(_ message: OpaquePointer) -> String {
        sd_bus_message_get_error(message)?.pointee.message.map { String(cString: $0) } ?? "no reason"
    }

    /// Writes the arguments of AddService: on all interfaces, by both protocols, in the usual domain and for this host.
    static func write(_ message: OpaquePointer, _ service: NetworkService, name: String, type: String) {
        for every in [-1, -1] as [Int32] { basic(message, "i", every) }
        basic(message, "u", 0 as UInt32)
        for text in [name, type, "", ""] { write(message, text) }
        basic(message, "q", service.port)
        sd_bus_message_open_container(message, code("a"), "ay")
        for fact in service.facts {
            let bytes = Array(fact.utf8.prefix(255))
            sd_bus_message_append_array(message, code("y"), bytes, bytes.count)
        }
        sd_bus_message_close_container(message)
    }

    private static func write(_ message: OpaquePointer, _ text: String) {
        _ = text.withCString { sd_bus_message_append_basic(message, code("s"), $0) }
    }

    private static func basic<T: BitwiseCopyable>(_ message: OpaquePointer, _ kind: Character, _ value: T) {
        var value = value
        sd_bus_message_append_basic(message, code(kind), &value)
    }

    private static func code(_ kind: Character) -> CChar { CChar(kind.asciiValue ?? 0) }
}
