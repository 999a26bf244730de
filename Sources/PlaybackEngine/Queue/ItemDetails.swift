package import NowPlaying

/// What is known about an entry of the queue beyond its source. A reference, so that an entry of a long queue costs little;
/// never changed once it is in an entry, but replaced.
package final class ItemDetails: Sendable {
    /// What a file said about itself.
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
        /// What remains of a file that was opened long ago: what lists show.
        case listed(ListedTexts)
    }

    private let request: Contents?
    private let contents: Found
    /// Seconds of the file, advertisements and all; nil while unknown.
    package let mediaDuration: Double?
    /// Whether any other place in it can be gone to, as far as is known.
    package let isSeekable: Bool
    /// Whether all of it comes from the file, which can be asked again: no client and no list said anything.
    let isRepeatable: Bool

    /// Of what nobody has said anything yet.
    static let unknown = ItemDetails()

    /// Details, by their parts; `duration` is that of the file.
    package convenience init(
        given: MediaMetadata = MediaMetadata(), found: MediaMetadata = MediaMetadata(), duration: Double? = nil,
        format: MediaFormat? = nil, isSeekable: Bool = true, isRepeatable: Bool = false
    ) {
        let nothing = MediaMetadata()
        self.init(
            given == nothing ? nil : Contents(given, nil),
            found == nothing && format == nil ? .nothing : .whole(Contents(found, format)), duration, isSeekable,
            isRepeatable)
    }

    private init(
        _ request: Contents?, _ contents: Found, _ duration: Double?, _ isSeekable: Bool, _ isRepeatable: Bool
    ) {
        self.isRepeatable = isRepeatable
        self.request = request
        self.contents = contents
        mediaDuration = duration.map(TimeLimit.bounded)
        self.isSeekable = isSeekable
    }

    /// Seconds of content; nil while unknown.
    package var duration: Double? { mediaDuration.map { contentTime.content(ofMedia: $0) } }

    /// How the content goes with the file: by the ranges that a client gave.
    package var contentTime: ContentTime { ContentTime(request?.metadata.adTimeRanges ?? []) }

    /// Bytes of all its texts.
    package var textBytes: Int {
        let found: Int
        switch contents {
        case .nothing: found = 0
        case .whole(let contents): found = contents.textBytes
        case .listed(let texts): found = texts.count
        }
        return (request?.textBytes ?? 0) + found
    }

    /// What a client said about the item: it wins over what the file says.
    package var given: MediaMetadata { request?.metadata ?? MediaMetadata() }

    /// What the file said when it was opened.
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
        }
    }

    /// As in the file; nil while unknown, and of a file that was opened long ago.
    package var format: MediaFormat? {
        if case .whole(let contents) = contents { contents.format } else { nil }
    }

    /// What is shown: the client's word, else the file's.
    package var metadata: MediaMetadata {
        let found = found
        let result = request == nil ? found : given.filled(from: found)
        if found.isLiveStream == true { return live(result, given: given, found: found) }
        return placed(result, found: found).localized(in: [])
    }

    /// What a file says of its chapters is in its own time.
    private func placed(_ filled: MediaMetadata, found: MediaMetadata) -> MediaMetadata {
        let time = contentTime
        guard !time.ranges.isEmpty, request?.metadata.chapters == nil, let chapters = found.chapters else {
            return filled
        }
        var result = filled
        result.chapters = chapters.map { Chapter(start: time.content(ofMedia: $0.start), title: $0.title) }
        return result
    }

    /// The same, but for what a client says, or what the file says.
    func with(given: MediaMetadata? = nil, found: MediaMetadata? = nil) -> ItemDetails {
        ItemDetails(
            given: given ?? self.given, found: found ?? self.found, duration: mediaDuration, format: format,
            isSeekable: isSeekable, isRepeatable: isRepeatable && given == nil)
    }

    /// What a client calls a station is not what the station plays.
    private func live(_ filled: MediaMetadata, given: MediaMetadata, found: MediaMetadata) -> MediaMetadata {
        var result = filled
        let station = given.title ?? found.albumTitle
        result.title = found.title ?? station
        result.artist = found.artist ?? given.artist
        result.artists = found.artist == nil ? given.artists : found.artists
        result.albumTitle = given.albumTitle ?? station
        return result
    }

    /// The same with as much of the file's word as lists show, a fifth of the memory: a queue that is played through for
    /// weeks must not grow with every item. Nil: it is reduced already, or there is nothing.
    func reduced() -> ItemDetails? {
        guard case .whole = contents else { return nil }
        let found = found
        // What a station played when it was heard last says nothing of it.
        let isLive = found.isLiveStream == true
        return ItemDetails(
            request,
            .listed(
                ListedTexts(
                    isLive ? [found.albumTitle, nil, nil] : [found.title, found.artist, found.albumTitle])),
            mediaDuration, isSeekable, isRepeatable)
    }
}

/// A few texts in one piece of memory of their own. Those that a decoder makes lie between all that it needs meanwhile: what
/// is left of them would keep a page of memory each.
private struct ListedTexts: Sendable {
    private let bytes: [UInt8]
    /// Stands for a text that there is not, and ends the others: no UTF-8 has it.
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

    /// Bytes of all.
    var count: Int { bytes.count }

    subscript(_ number: Int) -> String? {
        let texts = bytes.split(separator: Self.end, omittingEmptySubsequences: false)
        return texts[number].first == Self.missing ? nil : String(decoding: texts[number], as: UTF8.self)
    }
}
