/// Request for pictures instead of audio; the body of `WireMessage.look`.
package struct PictureRequest: Equatable, Sendable {
    /// Kind of request.
    package enum Task: UInt8, Sendable {
        /// The pictures of the best kind in the file from the daemon.
        case embedded = 1
        /// The file at the address, unchanged.
        case fetch = 2
        /// The first frame of the film from the daemon, as a JPEG or PNG.
        case firstFrame = 3
    }

    package var task: Task
    /// Source of the pictures.
    package var source: OpenRequest

    /// A request, by its parts.
    package init(_ task: Task, _ source: OpenRequest = OpenRequest()) {
        self.task = task
        self.source = source
    }

    /// The body.
    package var bytes: [UInt8] { [task.rawValue] + source.bytes }

    /// Reads a body. Throws `WireError`.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        guard let task = bytes.first.flatMap(Task.init(rawValue:)) else { throw WireError("an unknown task") }
        self.task = task
        source = try OpenRequest(bytes.dropFirst())
    }
}

/// A picture that follows in pieces (`WireMessage.piece`), all of them together `count` bytes; the body of
/// `WireMessage.picture`.
package struct WirePicture: Equatable, Sendable {
    /// Picture type of ID3v2 §4.14: 3 is the front cover, 0 is unknown.
    package var kindNumber: UInt8
    /// Bytes of the picture.
    package var count: Int

    /// Maximum bytes of all pictures in an answer.
    package static let maximumBytes = 32 << 20
    /// Maximum number of pictures in an answer.
    package static let maximumCount = 4

    /// A picture, by its parts.
    package init(kindNumber: UInt8, count: Int) {
        self.kindNumber = kindNumber
        self.count = count
    }

    /// The body.
    package var bytes: [UInt8] {
        var writer = WireWriter()
        writer.integer(kindNumber)
        writer.integer(UInt32(count))
        return writer.bytes
    }

    /// Reads a body. Throws `WireError`.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        kindNumber = try reader.integer(UInt8.self)
        count = Int(try reader.integer(UInt32.self))
        try reader.end()
        guard (1...Self.maximumBytes).contains(count) else { throw WireError("a picture of \(count) bytes") }
    }
}
