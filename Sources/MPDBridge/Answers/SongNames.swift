import NowPlaying
import NowPlayingClient

/// Names of songs, as MPD has them: paths below the media root, or addresses. With several roots each is a folder of the top.
struct SongNames: Equatable, Sendable {
    /// A folder of the library.
    struct Root: Equatable, Sendable {
        /// Its name as a folder of the top.
        let name: [UInt8]
        /// Absolute, without a slash at its end.
        let path: [UInt8]
    }

    private let roots: [Root]
    private static let slash = UInt8(ascii: "/")
    private static let scheme = Array("file://".utf8)

    /// Names below these folders.
    init(_ roots: [Root] = []) { self.roots = roots }

    /// The name of an item. One outside of the roots has its address.
    func name(of uri: String) -> [UInt8] {
        guard uri.hasPrefix("file://") else { return Array(uri.utf8) }
        let path = PercentCoding.decoded(uri.utf8.dropFirst(Self.scheme.count)).bytes
        for root in roots where path.starts(with: root.path + [Self.slash]) {
            let below = Array(path[(root.path.count + 1)...])
            return roots.count == 1 ? below : root.name + [Self.slash] + below
        }
        return Array(uri.utf8)
    }

    /// The path or address of a name; nil: nothing can have it. Absolute paths and addresses stand for themselves.
    func uri(of name: [UInt8]) -> String? {
        let text = String(decoding: name, as: UTF8.self)
        if text.contains("://") { return text }
        if name.first == Self.slash { return Self.uri(path: name) }
        let parts = name.split(separator: Self.slash, omittingEmptySubsequences: false)
        guard !parts.contains(where: { $0.elementsEqual("..".utf8) || $0.elementsEqual(".".utf8) }) else { return nil }
        let trimmed = Array(parts.filter { !$0.isEmpty }.joined(separator: [Self.slash]))
        guard roots.count != 1 else {
            return Self.uri(path: roots[0].path + (trimmed.isEmpty ? [] : [Self.slash] + trimmed))
        }
        for root in roots where trimmed == root.name || trimmed.starts(with: root.name + [Self.slash]) {
            return Self.uri(path: root.path + trimmed[root.name.count...])
        }
        return nil
    }

    private static func uri(path: [UInt8]) -> String { FileName.uri(ofAbsolutePath: path) }
}
