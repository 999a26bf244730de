import AudioCore
import CLateLibraries

/// The libraries of the decoders. No program links them: each opens at its first call.
package enum LateLibraries {
    /// Opens the libraries for FLAC and MP3, the most usual files, ahead of the first file. Any thread; reads files.
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
