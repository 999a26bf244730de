/// A picture of an item for clients. A value; a client requests the picture itself by its id.
package struct Artwork: Hashable, Sendable {
    /// Kind of artwork: still or animated.
    package enum Kind: String, Sendable {
        case image, animated
    }

    /// Digest of the picture: the same picture has the same id for every item and file. Digest of the address for a
    /// picture that was not fetched from its address yet.
    package let id: String
    package let kind: Kind
    /// Pixels across, by its header; 0: not known yet.
    package let width: Int
    /// Pixels down, by its header; 0: not known yet.
    package let height: Int
    /// Media type such as `image/jpeg`, by its content; empty: not known yet.
    package let mediaType: String

    /// A picture, by its parts.
    package init(id: String, kind: Kind = .image, width: Int, height: Int, mediaType: String) {
        self.id = id
        self.kind = kind
        self.width = width
        self.height = height
        self.mediaType = mediaType
    }

    /// A picture that was not fetched yet.
    package init(unfetched id: String) { self.init(id: id, width: 0, height: 0, mediaType: "") }

    /// True if the picture was fetched, so that its size is known.
    package var isFetched: Bool { width > 0 && height > 0 }

    /// Width to height in small numbers, `1:1`, `4:3`: the nearest usual shape if it is within 2 %, else reduced; `1:1`
    /// for a picture that was not fetched yet.
    package var aspect: String {
        guard isFetched else { return "1:1" }
        for (across, down) in [(1, 1), (3, 4), (4, 3), (2, 3), (3, 2), (16, 9), (9, 16)] {
            let off = Double(width * down) / Double(height * across)
            if abs(off - 1) <= 0.02 { return "\(across):\(down)" }
        }
        var (a, b) = (width, height)
        while b != 0 { (a, b) = (b, a % b) }
        return "\(width / a):\(height / a)"
    }
}

/// Fit of a picture to a requested size.
package enum ArtworkFit: String, Sendable, CaseIterable {
    /// The smallest picture that covers it.
    case cover
    /// The largest picture that fits into it.
    case inside
}

extension Sequence where Element == Artwork {
    /// The picture that fits best. `cover`: the smallest that covers the size, else the largest; `inside`: the largest
    /// that fits into it, else the smallest. A missing dimension is ignored. Nil: there is none.
    package func closest(width: Int?, height: Int?, fit: ArtworkFit) -> Artwork? {
        let ascending = sorted { $0.width * $0.height < $1.width * $1.height }
        guard width != nil || height != nil else { return ascending.last }
        switch fit {
        case .cover:
            return ascending.first { $0.width >= width ?? 0 && $0.height >= height ?? 0 } ?? ascending.last
        case .inside:
            return ascending.last { $0.width <= width ?? .max && $0.height <= height ?? .max } ?? ascending.first
        }
    }
}
