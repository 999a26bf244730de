/// Server-sent events (HTML Standard, section 9.2).
package enum EventText {
    /// One event. `data` has no line ends, which JSON of one line has not.
    package static func event(id: String?, data: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        if let id { text += Array("id: \(id.filter { !$0.isNewline && $0 != "\0" })\n".utf8) }
        text += Array("data: ".utf8)
        text += data
        text += Array("\n\n".utf8)
        return text
    }

    /// The first bytes of a stream: the milliseconds after which a client connects again.
    package static let beginning = Array("retry: 2000\n\n".utf8)
}
