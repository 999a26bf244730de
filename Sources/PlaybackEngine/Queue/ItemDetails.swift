import AudioCore
package import NowPlaying

/// Facts about an entry of the queue beyond its source. A reference, so that an entry of a long queue is small. Immutable in
/// an entry; a change replaces it.
package final class ItemDetails: Sendable {
    /// Facts from a file.
    private final class Contents: Sendable {
        let metadata: MediaMetadata
        let format: MediaFormat?
        let textBytes: Int

        init(_ metadata: MediaMetadata, _ format: MediaFormat?) {
            self.metadata = metadata
            self.format = format
            textBytes = metadata.textBytes
        }
    }

    private enum Found: Sendable {
        case nothing
        case whole(Contents)
        /// The texts that lists show, of a file that was opened long ago.
        case listed(ListedTexts)
        /// Facts of a file that was never opened to be played, and the details without them.
        case read(PackedFacts, before: ItemDetails)
    }

    private let request: Contents?
    private let contents: Found
    /// Duration of the file in seconds, with advertisements; nil: unknown.
    package let mediaDuration: Double?
    /// True if the item is known to be seekable.
    package let isSeekable: Bool
    /// True if everything comes from the file and can be read again; neither a client nor a list added anything.
    let isRepeatable: Bool
    /// True if only the daemon's own user named the pictures in clients' metadata, never a foreign user.
    package let hasOwnPictures: Bool

    /// Without any facts.
    static let unknown = ItemDetails()

    /// Details, by their parts; `duration` is that of the file.
    package convenience init(
        given: MediaMetadata = MediaMetadata(), found: MediaMetadata = MediaMetadata(), duration: Double? = nil,
        format: MediaFormat? = nil, isSeekable: Bool = true, isRepeatable: Bool = false, hasOwnPictures: Bool = false
    ) {
        let nothing = MediaMetadata()
        self.init(
            given == nothing ? nil : Contents(given, nil),
            found == nothing && format == nil ? .nothing : .whole(Contents(found, format)), duration, isSeekable,
            isRepeatable, hasOwnPictures)
    }

    private init(
        _ request: Contents?, _ contents: Found, _ duration: Double?, _ isSeekable: Bool, _ isRepeatable: Bool,
        _ hasOwnPictures: Bool
    ) {
        self.isRepeatable = isRepeatable
        self.hasOwnPictures = hasOwnPictures
        self.request = request
        self.contents = contents
        mediaDuration = duration.map(TimeLimit.bounded)
        self.isSeekable = isSeekable
    }

    /// A copy with facts read from the file; nil: the file was opened, which gives more facts.
    func with(read facts: FileFacts) -> ItemDetails? {
        if isOpened { return nil }
        let before = beforeRead ?? self
        var facts = facts
        // Facts of a list count if the file has none.
        facts.metadata = facts.metadata.filled(from: before.found)
        return ItemDetails(
            request, .read(PackedFacts(facts), before: before), facts.duration, facts.isSeekable,
            self === Self.unknown || isRepeatable, hasOwnPictures)
    }

    /// True if the file was opened to be played.
    private var isOpened: Bool {
        switch contents {
        case .nothing: mediaDuration != nil
        case .whole(let contents):
            mediaDuration != nil || contents.format != nil || contents.metadata.isLiveStream == true
        case .listed: true
        case .read: false
        }
    }

    /// True if facts of the file are known, by playback or by a read.
    var isKnown: Bool { beforeRead != nil || isOpened }

    /// The details without facts read from the file; nil: there are no such facts.
    var beforeRead: ItemDetails? { if case .read(_, let before) = contents { before } else { nil } }

    /// Duration of the content in seconds, by the file or, until it is open, by a client; nil: unknown.
    package var duration: Double? {
        if let fileDuration { return fileDuration }
        // An open file without a duration, such as a station, has none.
        if case .whole(let contents) = contents, contents.format != nil || contents.metadata.isLiveStream == true {
            return nil
        }
        return request?.metadata.duration
    }

    /// Duration of the content of the file in seconds; nil: unknown.
    package var fileDuration: Double? { mediaDuration.map { contentTime.content(ofMedia: $0) } }

    /// Relation of the content to the file, by the advertisement ranges of a client.
    package var contentTime: ContentTime { ContentTime(request?.metadata.adTimeRanges ?? []) }

    /// Size of all its texts in bytes.
    package var textBytes: Int {
        let found: Int
        switch contents {
        case .nothing: found = 0
        case .whole(let contents): found = contents.textBytes
        case .listed(let texts): found = texts.count
        case .read(let facts, let before): found = facts.count + before.textBytes - (before.request?.textBytes ?? 0)
        }
        return (request?.textBytes ?? 0) + found
    }

    /// Metadata of a client, which overrides that of the file.
    package var given: MediaMetadata { request?.metadata ?? MediaMetadata() }

    /// Metadata of the file at its opening.
    package var found: MediaMetadata {
        switch contents {
        case .nothing: return MediaMetadata()
        case .whole(let contents): return contents.metadata
        case .listed(let texts):
            var metadata = MediaMetadata()
            metadata.title = texts[0]
            metadata.artist = texts[1]
            metadata.albumTitle = texts[2]
            return metadata
        case .read(let facts, _): return facts.facts.metadata
        }
    }

    /// Format of the file; nil: unknown, or opened long ago.
    package var format: MediaFormat? {
        switch contents {
        case .whole(let contents): contents.format
        case .read(let facts, _): facts.facts.format
        case .nothing, .listed: nil
        }
    }

    /// Shown metadata: a client's value, else the file's.
    package var metadata: MediaMetadata {
        let found = found
        let result = request == nil ? found : given.filled(from: found)
        if found.isLiveStream == true { return live(result, given: given, found: found) }
        return numbered(result, found: found).localized(in: [])
    }

    /// True if clients see the same details.
    func isShown(as other: ItemDetails) -> Bool {
        self === other || (duration == other.duration && format == other.format && metadata == other.metadata)
    }

    /// Chapters of a file are in the file's own time.
    private func numbered(_ filled: MediaMetadata, found: MediaMetadata) -> MediaMetadata {
        let time = contentTime
        guard !time.ranges.isEmpty, request?.metadata.chapters == nil, let chapters = found.chapters else {
            return filled
        }
        var result = filled
        result.chapters = chapters.map { Chapter(start: time.content(ofMedia: $0.start), title: $0.title) }
        return result
    }

    /// A copy with other metadata of a client or of the file.
    func with(
        given: MediaMetadata? = nil, found: MediaMetadata? = nil, hasOwnPictures: Bool? = nil
    ) -> ItemDetails {
        if found == nil, case .read(let facts, let before) = contents {
            let before = before.with(given: given, hasOwnPictures: hasOwnPictures)
            return ItemDetails(
                before.request, .read(facts, before: before), mediaDuration, isSeekable, isRepeatable && given == nil,
                before.hasOwnPictures)
        }
        return ItemDetails(
            given: given ?? self.given, found: found ?? self.found, duration: mediaDuration, format: format,
            isSeekable: isSeekable, isRepeatable: isRepeatable && given == nil,
            hasOwnPictures: hasOwnPictures ?? self.hasOwnPictures)
    }

    /// A client's name for a station is not the title of its current song.
    private func live(_ filled: MediaMetadata, given: MediaMetadata, found: MediaMetadata) -> MediaMetadata {
        var result = filled
        let station = given.title ?? found.albumTitle
        result.title = found.title ?? station
        result.artist = found.artist ?? given.artist
        result.artists = found.artist == nil ? given.artists : found.artists
        result.albumTitle = given.albumTitle ?? station
        return result
    }

    /// A copy with only the file's texts that lists show, in a fifth of the memory: a queue that plays for weeks must not
    /// grow with every item. Nil: reduced already, or empty.
    func reduced() -> ItemDetails? {
        guard case .whole = contents else { return nil }
        let found = found
        // The last song of a station does not describe the station.
        let isLive = found.isLiveStream == true
        return ItemDetails(
            request,
            .listed(
                ListedTexts(
                    isLive ? [found.albumTitle, nil, nil] : [found.title, found.artist, found.albumTitle])),
            mediaDuration, isSeekable, isRepeatable, hasOwnPictures)
    }
}

/// A few texts in one allocation. A decoder's texts are between its temporary memory, and each would keep a page of it.
private struct ListedTexts: Sendable {
    private let bytes: [UInt8]
    /// Marks a missing text and ends the others; it never occurs in UTF-8.
    private static let missing: UInt8 = 0xFE
    private static let end: UInt8 = 0xFF

    init(_ texts: [String?]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(texts.reduce(0) { $0 + ($1?.utf8.count ?? 1) + 1 })
        for text in texts {
            if let text { bytes += text.utf8 } else { bytes.append(Self.missing) }
            bytes.append(Self.end)
        }
        self.bytes = bytes
    }

    /// Size of all texts in bytes.
    var count: Int { bytes.count }

    subscript(_ number: Int) -> String? {
        let texts = bytes.split(separator: Self.end, omittingEmptySubsequences: false)
        return texts[number].first == Self.missing ? nil : String(decoding: texts[number], as: UTF8.self)
    }
}
