import AudioCore

/// A link of a chained Ogg file: a stream that follows another, with a format and tags of its own.
struct OggLink {
    /// Frames of audio in it.
    let frames: Int64
    /// Frames a second.
    let sampleRate: Int
    let channels: Int
    let fields: TagFields
}

/// A library that decodes a chain of links to floats. Frames are counted over all links.
protocol LinkedStream: AnyObject {
    /// The links, in the order of the file; at least one.
    var links: [OggLink] { get }
    /// The next frame to read, by the file's own times.
    var position: Int64 { get }
    /// Moves to a place so far before `frame`, which is before the end, that the sound from `frame` on equals that of
    /// uninterrupted playback. Does not move before `start`, where the frame's link begins with a fresh decoder.
    /// Returns the next frame to read. Throws `.broken`, or a read error.
    func approach(_ frame: Int64, notBefore start: Int64) throws(DecodingError) -> Int64
    /// Reads up to `frames` frames of one link, interleaved, into `target`, which has room for as many frames of
    /// `channels` channels. No link may have more channels. Throws `.broken`, or a read error.
    func read(
        _ frames: Int, channels: Int, into target: UnsafeMutablePointer<Float>
    ) throws(DecodingError) -> LinkedPiece
}

/// Result of one read.
struct LinkedPiece {
    /// 0: the end.
    var frames: Int
    /// Index of its link in `links`.
    var link: Int
    /// True if bytes were missing in the file before it.
    var followsHole: Bool
}

extension ChannelPosition {
    /// The order of channels in Vorbis I (§4.3.9) and Opus (RFC 7845 §5.1.1.2); 1 to 8 channels.
    static func vorbisOrder(channels: Int) -> [ChannelPosition] {
        switch channels {
        case 3: [.frontLeft, .frontCenter, .frontRight]
        case 5: [.frontLeft, .frontCenter, .frontRight, .rearLeft, .rearRight]
        case 6: [.frontLeft, .frontCenter, .frontRight, .rearLeft, .rearRight, .lowFrequency]
        case 7: [.frontLeft, .frontCenter, .frontRight, .sideLeft, .sideRight, .rearCenter, .lowFrequency]
        case 8:
            [.frontLeft, .frontCenter, .frontRight, .sideLeft, .sideRight, .rearLeft, .rearRight, .lowFrequency]
        default: standardOrder(channels: channels)
        }
    }
}
