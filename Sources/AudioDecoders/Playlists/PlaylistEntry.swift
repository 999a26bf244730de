package import NowPlaying

/// Metadata of an entry: a reference, so that each of many entries without metadata is small.
private final class MetadataBox: Equatable, Sendable {
    let metadata: MediaMetadata

    init(_ metadata: MediaMetadata) { self.metadata = metadata }

    static func == (a: MetadataBox, b: MetadataBox) -> Bool { a.metadata == b.metadata }
}

/// An entry of a list, without conversion.
package struct PlaylistEntry: Equatable, Sendable {
    /// Its location: a uri, or a path that is mostly relative to the list; in the bytes of the list.
    package var location: [UInt8]
    /// True if `location` is always a uri reference, with percent escapes (XSPF).
    package var isReference = false
    /// Metadata from the list.
    package var metadata: MediaMetadata {
        get { box?.metadata ?? MediaMetadata() }
        set { box = newValue == MediaMetadata() ? nil : MetadataBox(newValue) }
    }
    /// True if the list has metadata of the entry.
    package var hasMetadata: Bool { box != nil }
    private var box: MetadataBox?
    /// Seconds; nil: unknown.
    package var duration: Double?

    /// An entry, by its parts.
    package init(
        location: [UInt8], isReference: Bool = false, metadata: MediaMetadata = MediaMetadata(), duration: Double? = nil
    ) {
        self.location = location
        self.isReference = isReference
        self.metadata = metadata
        self.duration = duration
    }
}

/// Failure to read a list; the text follows the list's name.
package struct PlaylistError: Error, Equatable, Sendable {
    package let message: String

    /// An error with this text.
    package init(_ message: String) { self.message = message }
}

/// Kinds of lists, by the suffix of their names: the content of a text file is not conclusive.
package enum PlaylistKind: String, CaseIterable, Sendable {
    case m3u, m3u8, pls, xspf, cue

    /// The kind of a file of this name; nil: it is not a list.
    package init?(fileName: ArraySlice<UInt8>) {
        // A caller may check a hundred thousand names, few of which belong to lists.
        guard let dot = fileName.suffix(5).lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let ending = fileName[(dot + 1)...]
        switch ending.first.map({ $0 | 0x20 }) {
        case UInt8(ascii: "m"), UInt8(ascii: "p"), UInt8(ascii: "x"), UInt8(ascii: "c"):
            self.init(rawValue: String(decoding: ending, as: UTF8.self).lowercased())
        default: return nil
        }
    }

    /// The entries of a list with this content. A cue sheet has no entries, but tracks (`CueSheet`). Throws the reason
    /// if the list cannot be read.
    package func entries(_ content: [UInt8]) throws(PlaylistError) -> [PlaylistEntry] {
        switch self {
        case .m3u, .m3u8: try ExtendedM3U.entries(content)
        case .pls: PLSList.entries(content)
        case .xspf: try XSPFList.entries(content)
        case .cue: []
        }
    }
}
