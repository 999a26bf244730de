/// The part of a file that a request asks for (RFC 9110, section 14).
package enum ByteRange: Equatable, Sendable {
    case whole
    /// Bytes of the file, not empty.
    case part(Range<UInt64>)
    case unsatisfiable

    /// The part of a file of this size. A `Range` of another unit, of several parts, or that can't be read, is ignored; so is
    /// one whose `If-Range` does not name this very file.
    package init(_ head: RequestHead, size: UInt64, tag: String) {
        self = .whole
        guard head.method == .get, let text = head.value("range")?.lowercased(), text.hasPrefix("bytes=") else {
            return
        }
        if !head.values("if-range").isEmpty, head.value("if-range") != tag { return }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map(RequestHead.trimmed)
        guard ends.count == 2 else { return }
        switch (ends[0], ends[1]) {
        case ("", let suffix):
            guard let length = Self.number(suffix) else { return }
            self = length == 0 || size == 0 ? .unsatisfiable : .part(size - min(size, length)..<size)
        case (let first, let last):
            guard let start = Self.number(first), let end = last.isEmpty ? UInt64.max : Self.number(last), start <= end
            else { return }
            self = start < size ? .part(start..<(min(end, size - 1) + 1)) : .unsatisfiable
        }
    }

    private static func number(_ text: String) -> UInt64? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return UInt64(text)
    }
}

/// A name of the content of an answer (RFC 9110, section 8.8.3).
package enum EntityTag {
    /// True if the client has the content with this tag already (`If-None-Match`).
    package static func isKnown(_ tag: String, to head: RequestHead) -> Bool {
        head.values("if-none-match").flatMap { $0.split(separator: ",") }.map(RequestHead.trimmed).contains { known in
            known == "*" || known == tag || known == "W/" + tag
        }
    }
}
