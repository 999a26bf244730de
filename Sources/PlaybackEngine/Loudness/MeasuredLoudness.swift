package import NowPlaying

/// Source of the loudness of items. The raw value is its word in the configuration.
package enum LoudnessSource: String, Sendable, CaseIterable {
    /// Tags; the measured loudness of files without such tags.
    case tags
    /// The measured loudness; tags of files that were not measured.
    case measured

    /// True if a measurement changes nothing for a file with these tags.
    package func ignoresMeasurement(beside tags: LoudnessTags?) -> Bool {
        switch self {
        case .tags: tags?.isEmpty == false
        case .measured: false
        }
    }

    /// Loudness of an item by its tags and its measurement: one of the two as a whole, since gains of one album must come
    /// from one source.
    package func chosen(tags: LoudnessTags?, measured: LoudnessTags?) -> LoudnessTags? {
        guard let measured, !measured.isEmpty, !ignoresMeasurement(beside: tags) else { return tags }
        return measured
    }
}

/// Measured loudness of an opened item, and the source of loudness at its opening.
package struct MeasuredLoudness: Equatable, Sendable {
    /// Nil: it was not measured, or its tags count more.
    package let values: LoudnessTags?
    private let source: LoudnessSource

    /// The measured loudness of an item; the default is that of an item that was not measured.
    package init(_ values: LoudnessTags? = nil, _ source: LoudnessSource = .tags) {
        self.values = values
        self.source = source
    }

    /// Loudness of the item while these tags apply.
    func chosen(beside tags: LoudnessTags?) -> LoudnessTags? { source.chosen(tags: tags, measured: values) }
}
