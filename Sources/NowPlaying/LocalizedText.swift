/// A text of an item in one language.
package struct LocalizedText: Equatable, Sendable {
    /// Field of the text; raw values are the item's keys on the wire.
    package enum Key: String, Sendable, CaseIterable {
        case title, subtitle, artist, albumTitle, albumArtist, composer, genre, description, show
    }

    package var key: Key
    /// Tag of BCP 47: `de`, `pt-BR`; `und` suits all readers.
    package var language: String
    package var value: String

    /// Maximum number of texts of an item.
    package static let limit = 256

    /// A text, by its parts.
    package init(key: Key, language: String, value: String) {
        self.key = key
        self.language = language
        self.value = value
    }

    /// The text of this key in the best of a reader's languages, the preferred one first. For each language: the same
    /// language, then a more specific one (`de-AT` for `de`), then a less specific one (`de` for `de-AT`, RFC 4647
    /// §3.4); after all of them `und`. Nil: none matches.
    package static func best(_ texts: [LocalizedText], for key: Key, in languages: [String]) -> LocalizedText? {
        let texts = texts.filter { $0.key == key }
        guard !texts.isEmpty else { return nil }
        for language in languages {
            let wanted = language.lowercased()
            if let text = texts.first(where: { $0.language.lowercased() == wanted }) { return text }
            if let text = texts.first(where: { $0.language.lowercased().hasPrefix(wanted + "-") }) { return text }
            var range = wanted[...]
            while let dash = range.lastIndex(of: "-") {
                range = range[..<dash]
                if let text = texts.first(where: { $0.language.lowercased() == range }) { return text }
            }
        }
        return texts.first { $0.language.lowercased() == "und" }
    }
}

extension MediaMetadata {
    /// The same metadata for a reader of these languages, the preferred one first.
    package func localized(in languages: [String]) -> MediaMetadata {
        guard let texts, !texts.isEmpty else { return self }
        var result = self
        for key in LocalizedText.Key.allCases {
            let path = Self.path(of: key)
            if let text = LocalizedText.best(texts, for: key, in: languages) {
                result[keyPath: path] = text.value
                // The names of the artists are in another language.
                if key == .artist { result.artists = [] }
            } else if result[keyPath: path] == nil {
                // A text in any language is better than none.
                result[keyPath: path] = texts.first { $0.key == key }?.value
            }
        }
        return result
    }

    private static func path(of key: LocalizedText.Key) -> WritableKeyPath<MediaMetadata, String?> {
        switch key {
        case .title: \.title
        case .subtitle: \.subtitle
        case .artist: \.artist
        case .albumTitle: \.albumTitle
        case .albumArtist: \.albumArtist
        case .composer: \.composer
        case .genre: \.genre
        case .description: \.summary
        case .show: \.show
        }
    }
}

extension NowPlayingState {
    /// True if any text in it has more than one language.
    package var hasTexts: Bool { item?.metadata.texts?.isEmpty == false || upcoming?.texts.isEmpty == false }

    /// The same state for a reader of these languages, the preferred one first.
    package func localized(in languages: [String]) -> NowPlayingState {
        var state = self
        if let metadata = item?.metadata.localized(in: languages) { state.item?.metadata = metadata }
        if let texts = upcoming?.texts {
            if let text = LocalizedText.best(texts, for: .title, in: languages) { state.upcoming?.title = text.value }
            if let text = LocalizedText.best(texts, for: .artist, in: languages) { state.upcoming?.artist = text.value }
        }
        return state
    }
}
