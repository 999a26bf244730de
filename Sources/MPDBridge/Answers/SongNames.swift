import NowPlaying
import NowPlayingClient

/// MPD's names of songs: paths below the media root, or addresses. If there are several roots, each is a top folder.
struct SongNames: Equatable, Sendable {
    /// A folder of the library.
    struct Root: Equatable, Sendable {
        /// Name as a top folder.
        let name: [UInt8]
        /// Absolute, without a slash at its end.
        let path: [UInt8]
    }

    /// The folders of the library.
    let roots: [Root]
    private static let slash = UInt8(ascii: "/")
    private static let scheme = Array("file://".utf8)

    /// Names below these folders.
    init(_ roots: [Root] = []) { self.roots = roots }

    /// The folder of the library; nil: there is none, or more than one.
    var onlyFolder: [UInt8]? { roots.count == 1 ? roots[0].path : nil }

    /// The name of an item. The name of an item outside of the roots is its address.
    func name(of uri: String) -> [UInt8] {
        guard uri.utf8.starts(with: Self.scheme) else { return Array(uri.utf8) }
        let path = Self.path(ofURI: uri)
        for root in roots where path.count > root.path.count && path[root.path.count] == Self.slash {
            guard path.starts(with: root.path) else { continue }
            let below = path[(root.path.count + 1)...]
            return roots.count == 1 ? Array(below) : root.name + [Self.slash] + below
        }
        // The folder itself.
        if let root = roots.first(where: { $0.path == path }) { return roots.count == 1 ? [] : root.name }
        return Array(uri.utf8)
    }

    /// The path of a `file://` uri, without a slash at its end.
    static func path(ofURI uri: String) -> [UInt8] {
        let text = Array(uri.utf8.dropFirst(scheme.count))
        let path = text.contains(UInt8(ascii: "%")) ? PercentCoding.decoded(text).bytes : text
        return path.last == slash ? Array(path.dropLast()) : path
    }

    /// The path or address of a name; nil: the name is invalid. Absolute paths and addresses stay unchanged.
    func uri(of name: [UInt8]) -> String? {
        if Self.isAddress(name) { return String(decoding: name, as: UTF8.self) }
        if name.first == Self.slash { return Self.uri(path: name) }
        return placeURI(of: name)
    }

    /// True for an address such as `http://host/`.
    static func isAddress(_ name: [UInt8]) -> Bool { String(decoding: name, as: UTF8.self).contains("://") }

    /// The path of a file or folder of the library by its name; nil: the name is invalid. The top's name is valid only for a
    /// library with one folder, and gives that folder.
    func placeURI(of name: [UInt8]) -> String? {
        let parts = name.split(separator: Self.slash, omittingEmptySubsequences: true)
        guard !parts.contains(where: { $0.elementsEqual("..".utf8) || $0.elementsEqual(".".utf8) }) else { return nil }
        let trimmed = Array(parts.joined(separator: [Self.slash]))
        if roots.count == 1 { return Self.uri(path: roots[0].path + (trimmed.isEmpty ? [] : [Self.slash] + trimmed)) }
        for root in roots where trimmed == root.name || trimmed.starts(with: root.name + [Self.slash]) {
            return Self.uri(path: root.path + trimmed[root.name.count...])
        }
        return nil
    }

    private static func uri(path: [UInt8]) -> String { FileName.uri(ofAbsolutePath: path) }
}

/// Names as bytes.
extension SongNames {
    /// True for the names of the top: an empty name, or a slash.
    static func isTop(_ name: [UInt8]) -> Bool { name.allSatisfy { $0 == UInt8(ascii: "/") } }

    /// A name without slashes at its ends.
    static func trimmed(_ name: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let begin = name.drop { $0 == slash }
        return Array(begin.prefix(begin.lastIndex { $0 != slash }.map { $0 + 1 - begin.startIndex } ?? 0))
    }
}
