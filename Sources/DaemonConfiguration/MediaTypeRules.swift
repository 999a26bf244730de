package import AudioCore
package import NowPlaying

/// Rules for podcasts and audiobooks: a pure value.
package struct MediaTypeRules: Equatable, Sendable {
    /// Rule for one kind of item.
    package struct Rule: Equatable, Sendable {
        /// Genres, in lower case.
        package var genres: [String]
        /// Folders whose items are all of the kind.
        package var folders: [String] = []
        /// Minimum seconds from which on an item of any genre is of the kind; nil: its length has no effect.
        package var shortest: Double?
    }

    package var podcast = Rule(genres: MediaTypeRules.podcastGenres)
    package var audiobook = Rule(genres: MediaTypeRules.audiobookGenres)

    /// Genres of podcasts in common taggers.
    package static let podcastGenres = ["podcast", "podcasts"]
    /// Genres of audiobooks in common taggers.
    package static let audiobookGenres = ["audiobook", "audio book", "audiobooks", "speech", "spoken word"]

    /// The defaults.
    package init() {}

    /// Kind of an item: from a client, else by its folder, its tags or its length. Live streams are plain audio.
    package func kind(of source: MediaSource, _ metadata: MediaMetadata, duration: Double?) -> MediaType {
        if let given = metadata.mediaType { return given }
        if metadata.isLiveStream == true { return .audio }
        let rules: [(MediaType, Rule)] = [(.podcast, podcast), (.audiobook, audiobook)]
        for (kind, rule) in rules where ItemMatch.isIn(rule.folders, source) { return kind }
        for (kind, rule) in rules where ItemMatch.has(rule.genres, metadata.genre) { return kind }
        // If both rules have a length, the longer one takes precedence.
        let byLength = rules.sorted { ($0.1.shortest ?? 0) > ($1.1.shortest ?? 0) }
        for (kind, rule) in byLength {
            if let shortest = rule.shortest, let duration, duration >= shortest { return kind }
        }
        return .music
    }
}

extension Configuration {
    /// True for an audiobook or a podcast: from a client, else by its genre or its folder.
    package func isSpoken(_ source: MediaSource, _ metadata: MediaMetadata) -> Bool {
        let kind = kinds.kind(of: source, metadata, duration: nil)
        return [.podcast, .audiobook].contains(kind) || metadata.mediaType == nil && speech.isSpoken(source, metadata)
    }

    /// The same for the playback of another program, of which only the metadata is known.
    package func isSpoken(_ metadata: MediaMetadata) -> Bool {
        if let kind = metadata.mediaType { return [.podcast, .audiobook].contains(kind) }
        return ItemMatch.has(kinds.podcast.genres + kinds.audiobook.genres + speech.genres, metadata.genre)
    }
}
