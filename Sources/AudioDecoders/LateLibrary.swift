import AudioCore
import CLateLibraries

/// The libraries of the decoders, which nothing links: each opens at its first call.
package enum LateLibraries {
    /// Opens those of the most usual files, FLAC and MP3, ahead of the first of them. Any thread; reads files.
    package static func openUsual() {
        _ = late_flac_is_there()
        _ = late_mpg123_is_there()
    }
}

extension DecodingError {
    /// The refusal of a file whose decoder is not installed.
    static func withoutLibrary(_ name: String, package: String) -> DecodingError {
        DecodingError(.unavailable, "cannot load \(name); install \(package)")
    }
}
