/// The media types that the daemon plays (IANA's names and those in use).
enum MediaTypes {
    /// The uri schemes that the daemon accepts.
    static let schemes = ["file", "http", "https"]
    static let all = [
        "audio/flac", "audio/x-flac", "audio/ogg", "application/ogg", "audio/vorbis", "audio/x-vorbis+ogg",
        "audio/opus", "audio/x-opus+ogg", "audio/mpeg", "audio/mp3", "audio/x-mp3", "audio/wav", "audio/x-wav",
        "audio/vnd.wave",
        "audio/aiff", "audio/x-aiff", "audio/basic", "audio/x-caf",
    ]
}
