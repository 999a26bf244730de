import AudioCore
package import LinuxSystem
import MediaAccess
package import TrackDatabase

/// The folders of the library as one kind of client sees them, and the mapping between files of the host and places in
/// the library. Any thread.
package struct LibraryView: Sendable {
    /// The folders of the library.
    package let roots: [RootNames.Root]
    /// Visible places in the library, each with all places below it; nil: all are visible.
    package let visible: [[UInt8]]?

    /// A view of all places.
    package init(_ roots: [RootNames.Root]) {
        self.roots = roots
        visible = nil
    }

    /// The view of a foreign user, which has no paths outside the media roots.
    init(_ roots: [RootNames.Root], within media: MediaRoots) {
        self.roots = roots
        var places: [[UInt8]] = []
        for root in roots {
            if media.confinedPath(of: root.path) != nil {
                places.append(root.name)
            } else {
                places += media.paths.compactMap { $0.below(root.path).map { root.name + [Self.slash] + $0.bytes } }
            }
        }
        visible = places
    }

    private static let slash = UInt8(ascii: "/")

    /// Visible part of a folder of the library.
    enum Sight {
        case whole, part, nothing
    }

    /// The visible part of a folder of the library.
    func sight(of root: RootNames.Root) -> Sight {
        guard let visible else { return .whole }
        if visible.contains(root.name) { return .whole }
        return visible.contains { $0.starts(with: root.name + [Self.slash]) } ? .part : .nothing
    }

    // MARK: Files and places

    /// The path of the file or folder at a place; nil: the library no longer has its root.
    package func path(of place: [UInt8]) -> FilePath? {
        let name = place.prefix { $0 != Self.slash }
        guard let root = roots.first(where: { $0.name.elementsEqual(name) }) else { return nil }
        guard let rest = FilePath(place.dropFirst(name.count + 1)) else { return nil }
        return root.path.appending(rest)
    }

    /// The uri of the file or folder at a place; nil: the library no longer has its root.
    package func uri(of place: [UInt8]) -> String? { path(of: place).map { MediaSource.fileURI($0) } }

    /// The place of a path of the host; nil: it is in no folder of the library.
    package func place(of path: FilePath) -> [UInt8]? {
        let path = path.normalized
        guard !path.leadsUp else { return nil }
        for root in roots {
            guard let rest = path.below(root.path) else { continue }
            return rest.isEmpty ? root.name : root.name + [Self.slash] + rest.bytes
        }
        return nil
    }

    /// The place of a uri or an absolute path; nil: it is not in the library.
    package func place(of uri: String) -> [UInt8]? {
        guard case .path(let path) = MediaAddress(uri) else { return nil }
        return place(of: path)
    }

    /// True if a client of this view sees a place and all places below it.
    func shows(_ place: [UInt8]) -> Bool {
        visible?.contains { place == $0 || place.starts(with: $0 + [Self.slash]) } ?? true
    }

    // MARK: Filters

    /// The filter with its uris replaced by places.
    package func resolved(_ filter: TrackFilter) -> TrackFilter {
        switch filter {
        case .all(let filters): .all(filters.map(resolved))
        case .any(let filters): .any(filters.map(resolved))
        case .not(let filter): .not(resolved(filter))
        case .test(.path(let field), .is(let text)) where Self.isAddress(text):
            place(of: text).map { .test(.path(field), .place($0)) } ?? .any([])
        case .test(.path(let field), .below(let text)) where Self.isAddress(text):
            place(of: String(decoding: text, as: UTF8.self)).map { .test(.path(field), .below($0)) } ?? .any([])
        case .test, .album: filter
        }
    }

    /// True if the text is a path or uri of the host: places in the library begin with the name of a folder.
    private static func isAddress(_ text: String) -> Bool { isAddress(Array(text.utf8)) }

    private static func isAddress(_ text: [UInt8]) -> Bool {
        text.first == slash || text.starts(with: Array("file:".utf8))
    }
}
