/// A picture of an item, as listeners see it. A value; the picture itself is asked for by its id.
package struct Artwork: Hashable, Sendable {
    /// Kind of artwork: still or animated.
    package enum Kind: String, Sendable {
        case image, animated
    }

    /// The digest of the picture: the same picture has the same id, whichever item or file it comes from. Of one that was
    /// not fetched yet from its address that of the address.
    package let id: String
    package let kind: Kind
    /// Pixels across, as its header says; 0: not known yet.
    package let width: Int
    /// Pixels down, as its header says; 0: not known yet.
    package let height: Int
    /// `image/jpeg` and so on, by its content; empty: not known yet.
    package let mediaType: String

    /// A picture, by its parts.
    package init(id: String, kind: Kind = .image, width: Int, height: Int, mediaType: String) {
        self.id = id
        self.kind = kind
        self.width = width
        self.height = height
        self.mediaType = mediaType
    }

    /// One that nobody has fetched yet.
    package init(unfetched id: String) { self.init(id: id, width: 0, height: 0, mediaType: "") }

    /// True if its size is known, not only its address.
    package var isFetched: Bool { width > 0 && height > 0 }

    /// Width to height in small numbers, `1:1`, `4:3`: the nearest usual shape where it is within 2 %, else reduced;
    /// `1:1` of one that is not known yet.
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
    /// The smallest that covers it.
    case cover
    /// The largest that fits into it.
    case inside
}

extension Sequence where Element == Artwork {
    /// The one that fits best: `cover` the smallest that covers the size, else the largest; `inside` the largest that fits
    /// into it, else the smallest. A size that is not given does not matter. Nil: there is none.
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
