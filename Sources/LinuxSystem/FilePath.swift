import Glibc

/// A path of Linux: bytes of any encoding without a zero. Most are absolute; a function that takes a relative one says
/// so.
package struct FilePath: Hashable, Sendable {
    /// The path without a zero at its end.
    package let bytes: [UInt8]

    /// The path with these bytes. Nil: one of them is zero.
    package init?(_ bytes: some Sequence<UInt8>) { self.init(Array(bytes)) }

    /// The path with these bytes, without a copy. Nil: one of them is zero.
    package init?(_ bytes: [UInt8]) {
        guard !bytes.withUnsafeBytes(Self.hasZero) else { return nil }
        self.bytes = bytes
    }

    /// The path with these bytes, none of which is zero, without a copy.
    init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// True if one of these bytes is zero.
    static func hasZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    }

    /// The path for people: bytes that are not UTF-8 become U+FFFD, so the text may name no file.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package var isEmpty: Bool { bytes.isEmpty }

    /// The last part; empty for `/`.
    package var name: ArraySlice<UInt8> {
        let range = bytes.withUnsafeBytes { bytes in
            var end = bytes.count
            while end > 0, bytes[end - 1] == Self.slash { end -= 1 }
            var start = end
            while start > 0, bytes[start - 1] != Self.slash { start -= 1 }
            return start..<end
        }
        return bytes[range]
    }

    /// Path before the last part, without a slash at its end (but for `/` itself); empty: there is none.
    package var folder: FilePath {
        let start = name.startIndex
        if start == 0 { return FilePath(unchecked: []) }
        let end = bytes[..<start].lastIndex { $0 != Self.slash }
        return FilePath(unchecked: end.map { Array(bytes[...$0]) } ?? [Self.slash])
    }

    /// The path of `name` in this folder; `name` may be a relative path.
    package func appending(_ name: FilePath) -> FilePath {
        if isEmpty || name.isEmpty { return isEmpty ? name : self }
        let separator = bytes.last == Self.slash ? [] : [Self.slash]
        return FilePath(unchecked: bytes + separator + name.bytes)
    }

    /// Without empty parts, `.` and a slash at the end. `..` stays: its meaning depends on symbolic links.
    package var normalized: FilePath {
        if isNormal { return self }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for part in bytes.split(separator: Self.slash) where !part.elementsEqual(".".utf8) {
            if !result.isEmpty || bytes.first == Self.slash { result.append(Self.slash) }
            result += part
        }
        return FilePath(unchecked: result.isEmpty && bytes.first == Self.slash ? [Self.slash] : result)
    }

    /// True if it has no empty part, no `.` and no slash at its end.
    private var isNormal: Bool {
        bytes.withUnsafeBytes { bytes in
            var (part, end) = (0, 0)
            while end <= bytes.count {
                if end == bytes.count || bytes[end] == Self.slash {
                    let isRoot = end == 0 || (part == 1 && bytes.count == 1)
                    if end == part, !isRoot { return false }
                    if end == part + 1, bytes[part] == Self.dot { return false }
                    part = end + 1
                }
                end += 1
            }
            return true
        }
    }

    /// True if one of its parts is `..`.
    package var leadsUp: Bool {
        bytes.withUnsafeBytes { bytes in
            var end = 1
            while end < bytes.count {
                if bytes[end] == Self.dot, bytes[end - 1] == Self.dot, end == 1 || bytes[end - 2] == Self.slash,
                    end + 1 == bytes.count || bytes[end + 1] == Self.slash
                {
                    return true
                }
                end += 1
            }
            return false
        }
    }

    /// Without `..` and the part before it, as if there were no symbolic links. With links, it may be another file.
    package var collapsed: FilePath {
        var parts: [ArraySlice<UInt8>] = []
        for part in normalized.bytes.split(separator: Self.slash) {
            if part.elementsEqual("..".utf8), let last = parts.last, !last.elementsEqual("..".utf8) {
                parts.removeLast()
            } else {
                parts.append(part)
            }
        }
        let start = bytes.first == Self.slash ? [Self.slash] : []
        return FilePath(unchecked: start + Array(parts.joined(separator: [Self.slash])))
    }

    /// The rest of this path after `folder`, relative; empty: it is the folder itself. Nil: its text does not begin
    /// with `folder`. Both must be normalized.
    package func below(_ folder: FilePath) -> FilePath? {
        guard bytes.starts(with: folder.bytes) else { return nil }
        let rest = bytes[folder.bytes.count...]
        guard rest.isEmpty || rest.first == Self.slash || folder.bytes.last == Self.slash else { return nil }
        return FilePath(unchecked: Array(rest.drop { $0 == Self.slash }))
    }

    /// Calls `body` with the path as a C string; the pointer is valid until `body` returns.
    package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
            bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(buffer).copyMemory(from: $0) }
            buffer[bytes.count] = 0
            return body(buffer.baseAddress!)
        }
    }

    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")
}

extension FilePath: ExpressibleByStringInterpolation {
    /// The path of a literal, which must not contain a zero.
    package init(stringLiteral text: String) {
        let bytes = Array(text.utf8)
        precondition(!bytes.contains(0), "a path with a zero byte")
        self.init(unchecked: bytes)
    }
}
