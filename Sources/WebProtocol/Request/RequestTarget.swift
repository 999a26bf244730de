/// The target of a request: the parts of a path, and a query.
package struct RequestTarget: Equatable, Sendable {
    /// The decoded parts between the slashes; empty: `/`. None is empty, `.` or `..`, or has a slash or control characters.
    package let path: [String]
    /// True if the path ends with a slash.
    private let isFolder: Bool
    /// Decoded names and values in their order.
    package let query: [Item]

    /// A name and a value of a query.
    package struct Item: Equatable, Sendable {
        package let name: String
        package let value: String
    }

    /// Most bytes of a target.
    package static let maximumBytes = 8 << 10

    /// Reads the origin form, `/artwork/1.jpg?size=600`.
    package init(_ text: String) throws(HTTPFault) {
        let bytes = Array(text.utf8)
        guard bytes.first == UInt8(ascii: "/"), bytes.count <= Self.maximumBytes,
            bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        else { throw HTTPFault(.badRequest, "the target of a request is a path") }
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        isFolder = bytes[mark - 1] == UInt8(ascii: "/")
        path = mark == 1 ? [] : try Self.parts(bytes[1..<(isFolder ? mark - 1 : mark)])
        query = try Self.items(bytes[min(mark + 1, bytes.count)...])
    }

    private init(_ path: [String], isFolder: Bool, _ query: [Item]) {
        self.path = path
        self.isFolder = isFolder
        self.query = query
    }

    /// The target as it is below a base path, of these parts. Throws a redirect for the base path without its slash and for `/`,
    /// and a refusal for all other paths outside of it and for those below it that end with a slash.
    func below(_ base: [String]) throws(HTTPFault) -> RequestTarget {
        guard path.starts(with: base) else {
            guard path.isEmpty else { throw .notFound }
            throw .moved(to: Self.folder(base))
        }
        let rest = Array(path[base.count...])
        guard isFolder == rest.isEmpty else {
            guard rest.isEmpty else { throw .notFound }
            throw .moved(to: Self.folder(base))
        }
        return RequestTarget(rest, isFolder: isFolder, query)
    }

    private static func folder(_ base: [String]) -> String { "/" + base.joined(separator: "/") + "/" }

    /// The value of a name that may occur once in a query; nil: it is absent.
    package func value(_ name: String) throws(HTTPFault) -> String? {
        let found = query.filter { $0.name == name }
        guard found.count <= 1 else { throw HTTPFault(.badRequest, "the query has “\(name)” more than once") }
        return found.first?.value
    }

    private static func parts(_ bytes: ArraySlice<UInt8>) throws(HTTPFault) -> [String] {
        var parts: [String] = []
        for part in bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let text = try decoded(part, plusIsSpace: false)
            let isName =
                !text.isEmpty && text != "." && text != ".."
                && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && !"/\\".utf8.contains($0) }
            guard isName else { throw .notFound }
            parts.append(text)
        }
        return parts
    }

    private static func items(_ bytes: ArraySlice<UInt8>) throws(HTTPFault) -> [Item] {
        var items: [Item] = []
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            let sign = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            items.append(
                Item(
                    name: try decoded(part[..<sign], plusIsSpace: true),
                    value: try decoded(part[min(sign + 1, part.endIndex)...], plusIsSpace: true)))
        }
        return items
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) throws(HTTPFault) -> String {
        var result: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < bytes.endIndex, let high = digit(bytes[index + 1]),
                    let low = digit(bytes[index + 2])
                else {
                    throw HTTPFault(.badRequest, "a percent sign in the path needs two hexadecimal digits")
                }
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
                index += 1
            }
        }
        guard let text = String(validating: result, as: UTF8.self) else {
            throw HTTPFault(.badRequest, "the path is not UTF-8")
        }
        return text
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        case _: nil
        }
    }
}
