import CSystemd
import LinuxSystem

/// A message of the bus, received or being written. The bus ensures that texts of received messages are valid UTF-8.
@PlayerLoop final class BusMessage {
    let pointer: OpaquePointer
    /// True if every write to the message succeeded.
    private(set) var isSound = true

    /// Shares a message.
    init(sharing pointer: OpaquePointer) { self.pointer = sd_bus_message_ref(pointer) }

    /// Takes over a message that was made.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    isolated deinit { sd_bus_message_unref(pointer) }

    var sender: String { text(sd_bus_message_get_sender(pointer)) }
    var interface: String { text(sd_bus_message_get_interface(pointer)) }
    var member: String { text(sd_bus_message_get_member(pointer)) }
    var isError: Bool { sd_bus_message_is_method_error(pointer, nil) > 0 }

    /// The words of an error, with its name.
    var errorText: String {
        guard let error = sd_bus_message_get_error(pointer) else { return "" }
        return text(error.pointee.name) + ": " + text(error.pointee.message)
    }

    /// True if the message has exactly these argument types.
    func has(signature: String) -> Bool { sd_bus_message_has_signature(pointer, signature) > 0 }

    // MARK: Reading, from the first argument to the last

    /// The next argument: a string, or an object path if `kind` is `o`; nil: it has another type.
    func readText(_ kind: Character = "s") -> String? {
        var result: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(pointer, code(kind), &result) > 0, let result else { return nil }
        return String(cString: result)
    }

    /// The next argument; nil: it is not a boolean.
    func readBool() -> Bool? {
        var result: Int32 = 0
        return sd_bus_message_read_basic(pointer, code("b"), &result) > 0 ? result != 0 : nil
    }

    /// The next argument; nil: it is not a signed 64-bit integer.
    func readInt64() -> Int64? {
        var result: Int64 = 0
        return sd_bus_message_read_basic(pointer, code("x"), &result) > 0 ? result : nil
    }

    /// The next argument; nil: it is not an unsigned 32-bit integer.
    func readUInt32() -> UInt32? {
        var result: UInt32 = 0
        return sd_bus_message_read_basic(pointer, code("u"), &result) > 0 ? result : nil
    }

    /// The next argument; nil: it is not a floating-point number.
    func readDouble() -> Double? {
        var result = 0.0
        return sd_bus_message_read_basic(pointer, code("d"), &result) > 0 ? result : nil
    }

    /// The elements of an array of object paths, at most `limit` of them.
    func readPaths(limit: Int) -> [String]? {
        guard enter("a", "o") else { return nil }
        defer { leave() }
        var result: [String] = []
        while result.count < limit, let path = readText("o") { result.append(path) }
        return result
    }

    /// Enters an array (`a`), variant (`v`) or dictionary entry (`e`) with these contents; false: there is none.
    func enter(_ kind: Character, _ contents: String) -> Bool {
        sd_bus_message_enter_container(pointer, code(kind), contents) > 0
    }

    /// Leaves the container; skips its unread values.
    func leave() {
        while sd_bus_message_at_end(pointer, 0) == 0, sd_bus_message_skip(pointer, nil) > 0 {}
        sd_bus_message_exit_container(pointer)
    }

    /// Skips the next value.
    func skip() { sd_bus_message_skip(pointer, nil) }

    // MARK: Writing

    /// Writes an argument.
    func append(_ value: BusValue) {
        switch value {
        case .bool(let value): basic("b", value ? 1 as Int32 : 0)
        case .int32(let value): basic("i", value)
        case .int64(let value): basic("x", value)
        case .double(let value): basic("d", value)
        case .string(let text): write(text, "s")
        case .path(let path): write(path, "o")
        case .strings(let texts): array("s") { for text in texts { write(text, "s") } }
        case .paths(let paths): array("o") { for path in paths { write(path, "o") } }
        case .dictionary(let dictionary): append(dictionary)
        case .dictionaries(let dictionaries):
            array("a{sv}") { for dictionary in dictionaries { append(dictionary) } }
        }
    }

    /// Writes an argument inside a variant, the form of properties.
    func appendVariant(_ value: BusValue) { container("v", value.signature) { append(value) } }

    private func append(_ dictionary: BusDictionary) {
        array("{sv}") {
            for entry in dictionary.entries {
                container("e", "sv") {
                    write(entry.name, "s")
                    appendVariant(entry.value)
                }
            }
        }
    }

    private func array(_ contents: String, _ body: () -> Void) { container("a", contents, body) }

    private func container(_ kind: Character, _ contents: String, _ body: () -> Void) {
        check(sd_bus_message_open_container(pointer, code(kind), contents))
        body()
        check(sd_bus_message_close_container(pointer))
    }

    private func write(_ text: String, _ kind: Character) {
        // A text ends at its first NUL. Earlier code has removed the NULs of text from outside.
        check(text.withCString { sd_bus_message_append_basic(pointer, code(kind), $0) })
    }

    private func basic<T: BitwiseCopyable>(_ kind: Character, _ value: T) {
        var value = value
        check(sd_bus_message_append_basic(pointer, code(kind), &value))
    }

    private func check(_ result: Int32) { if result < 0 { isSound = false } }

    private func code(_ kind: Character) -> CChar { CChar(bitPattern: kind.asciiValue ?? 0) }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
}
