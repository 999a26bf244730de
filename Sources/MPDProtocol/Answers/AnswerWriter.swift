/// Writes lines of answers. A line end in a value becomes a space, so that no text from a file can forge a line.
package struct AnswerWriter: Sendable {
    /// Bytes written since the last `take`.
    package private(set) var bytes: [UInt8] = []

    /// A writer without bytes.
    package init() {}

    /// Returns the bytes, and empties the writer.
    package mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// Appends the lines of another writer.
    package mutating func append(_ lines: [UInt8]) { bytes += lines }

    /// Appends the lines of another writer.
    package mutating func append(_ lines: ArraySlice<UInt8>) { bytes += lines }

    /// The first line of a connection.
    package mutating func greeting(version: String) { line("OK MPD \(version)") }

    /// The end of an answer.
    package mutating func ok() { line("OK") }

    /// The end of one command's answer in a list.
    package mutating func listOK() { line("list_OK") }

    /// The answer to `idle`.
    package mutating func changed(_ subsystems: SubsystemSet) {
        for subsystem in subsystems.members { pair("changed", subsystem.rawValue) }
        ok()
    }

    /// The failure of a command. `index`: its number in the command list, from 0. `command`: its word; empty: unknown.
    package mutating func failure(_ failure: MPDFailure, index: Int, command: String) {
        bytes += "ACK [\(failure.code.rawValue)@\(index)] {\(command)} ".utf8
        value(failure.message.utf8)
    }

    /// A line of a key and a value.
    package mutating func pair(_ key: StaticString, _ text: String) {
        self.key(key)
        value(text.utf8)
    }

    /// A line of a key and a value in bytes, such as a name.
    package mutating func pair(_ key: StaticString, _ text: [UInt8]) {
        self.key(key)
        value(text)
    }

    /// A line of a computed key, and a value in bytes.
    package mutating func pair(prefix key: String, _ text: [UInt8]) {
        bytes += key.utf8
        bytes += [UInt8(ascii: ":"), UInt8(ascii: " ")]
        value(text)
    }

    /// A line of a tag's name and one of its values.
    package mutating func pair(_ tag: MPDTag, _ text: String) {
        bytes += tag.rawValue.utf8
        bytes += [UInt8(ascii: ":"), UInt8(ascii: " ")]
        value(text.utf8)
    }

    /// A line of a key and a whole number.
    package mutating func pair(_ key: StaticString, _ number: some BinaryInteger) { pair(key, String(number)) }

    /// A line of a key and 0 or 1.
    package mutating func pair(_ key: StaticString, _ flag: Bool) { pair(key, flag ? "1" : "0") }

    /// A line of a key and seconds with three decimals.
    package mutating func pair(_ key: StaticString, seconds: Double) { pair(key, MPDNumbers.milliseconds(seconds)) }

    /// A line of a key and a time in UTC. `unix`: seconds since 1970.
    package mutating func pair(_ key: StaticString, unix: Int64) { pair(key, MPDNumbers.time(unix)) }

    /// A part of a binary answer, with its length before it.
    package mutating func binary(_ part: some Collection<UInt8>) {
        pair("binary", part.count)
        bytes += part
        bytes.append(Self.lineFeed)
    }

    private static let lineFeed = UInt8(ascii: "\n")

    private mutating func key(_ key: StaticString) {
        key.withUTF8Buffer { bytes += $0 }
        bytes += [UInt8(ascii: ":"), UInt8(ascii: " ")]
    }

    private mutating func value(_ text: some Sequence<UInt8>) {
        let begin = bytes.count
        bytes += text
        for index in begin..<bytes.count where Self.endsLine(bytes[index]) { bytes[index] = UInt8(ascii: " ") }
        bytes.append(Self.lineFeed)
    }

    private static func endsLine(_ byte: UInt8) -> Bool { byte == lineFeed || byte == UInt8(ascii: "\r") || byte == 0 }

    private mutating func line(_ text: String) {
        bytes += text.utf8
        bytes.append(Self.lineFeed)
    }
}
