package import AudioCore
package import AudioDecoders

/// Facts from the header of a short film. Nothing reads its frames, and references to other files are rejected.
package struct VideoHeader: Equatable, Sendable {
    /// As HTTP names it.
    let mediaType: String
    /// Displayed pixels across.
    package private(set) var width = 0
    /// Displayed pixels down.
    package private(set) var height = 0
    /// Seconds; nil: the header does not say.
    private(set) var duration: Double?
    /// Frames a second; nil: the header does not say.
    private(set) var frameRate: Double?

    /// Larger sizes are invalid.
    private static let largest = 65_535

    /// Reads the header of a film; nil: its kind is unknown, or it is broken. Blocks. Throws the errors of the read.
    package init?(_ file: MediaFile) throws(DecodingError) {
        let first = try file.bytes(at: 0, count: 16)
        guard first.count == 16 else { return nil }
        if first[4..<8].elementsEqual("ftyp".utf8) {
            mediaType = "video/mp4"
            try readMovie(file)
        } else if first.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            mediaType = "video/webm"
            try readMatroska(file)
        } else if let picture = ImageHeader(first), picture.kind == .gif {
            mediaType = "image/gif"
            setSize(picture.width, picture.height)
            try readLoop(file)
        } else {
            return nil
        }
        guard (1...Self.largest).contains(width), (1...Self.largest).contains(height) else { return nil }
        if duration.map({ !$0.isFinite || $0 <= 0 || $0 > 1e6 }) == true { duration = nil }
        if frameRate.map({ !$0.isFinite || $0 <= 0 || $0 > 1e5 }) == true { frameRate = nil }
    }

    /// Sets the displayed pixels across and down.
    mutating func setSize(_ width: Int, _ height: Int) { (self.width, self.height) = (width, height) }

    /// Sets the length in seconds.
    mutating func setDuration(_ seconds: Double?) { duration = seconds }

    /// Sets the frames a second.
    mutating func setFrameRate(_ rate: Double) { frameRate = rate }
}
