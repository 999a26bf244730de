import AudioCore

/// A link of a chained Ogg file: a stream that was put after another, with a format and tags of its own.
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
    /// The frame that is read next, as the file's own times say.
    var position: Int64 { get }
    /// Moves so far before this frame, which is before the end, that the sound from it on is that of playing through; not
    /// before `start`, where the frame's link begins and the decoder begins anew by itself. Says which frame is read next.
    /// Throws `.broken`, or what reading throws.
    func approach(_ frame: Int64, notBefore start: Int64) throws(DecodingError) -> Int64
    /// Reads up to `frames` frames of one link, interleaved, into `target`, which has room for as many of 8 channels. Throws
    /// `.broken`, or what reading throws.
    func read(_ frames: Int, into target: UnsafeMutablePointer<Float>) throws(DecodingError) -> LinkedPiece
}

/// Result of one read.
struct LinkedPiece {
    /// 0: the end.
    var frames: Int
    /// Index of its link in `links`.
    var link: Int
    /// True if something was missing in the file before it.
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
