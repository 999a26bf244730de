/// Request to open a source; the body of `WireMessage.open`.
package struct OpenRequest: Equatable, Sendable {
    /// Address of a stream or remote file, with user and password; empty: the file from the daemon.
    package var address = ""
    /// True if the address may be on this host.
    package var mayUseLoopback = false
    /// True if the address was public before: then it must not be private now.
    package var wasPublic = false
    /// File of trusted certificates; empty: the system's.
    package var certificates = ""
    /// Value of the field `User-Agent`.
    package var userAgent = ""
    /// Requested format of the frames; nil: that of the source.
    package var wanted: WireFormat?
    /// Fingerprint of a stream that broke and may have been a file; nil: none.
    package var beginning: StreamBeginning?

    /// An empty request: the file from the daemon.
    package init() {}

    /// The body.
    package var bytes: [UInt8] {
        var writer = WireWriter()
        writer.text(address)
        writer.integer(
            UInt8((mayUseLoopback ? 1 : 0) | (wasPublic ? 2 : 0) | (wanted == nil ? 0 : 4) | (beginning == nil ? 0 : 8))
        )
        writer.text(certificates)
        writer.text(userAgent)
        wanted?.write(to: &writer)
        for byte in beginning?.bytes ?? [] { writer.integer(byte) }
        return writer.bytes
    }

    /// Reads a body. Throws `WireError`.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        address = try reader.text(limit: 16 << 10)
        let flags = try reader.integer(UInt8.self)
        mayUseLoopback = flags & 1 != 0
        wasPublic = flags & 2 != 0
        certificates = try reader.text(limit: 4096)
        userAgent = try reader.text(limit: 256)
        if flags & 4 != 0 { wanted = try WireFormat(&reader) }
        if flags & 8 != 0 { beginning = try StreamBeginning(&reader) }
        try reader.end()
    }
}

/// A frame of an item, with the number of the seek; the body of `seek` and `seeked`.
package struct WireSeek: Equatable, Sendable {
    /// Counts the seeks of one child.
    package var number: UInt32
    /// Frame, counted from the beginning of the item.
    package var frame: Int64

    /// A seek, by its parts.
    package init(number: UInt32, frame: Int64) {
        self.number = number
        self.frame = frame
    }

    /// The body.
    package var bytes: [UInt8] {
        var writer = WireWriter()
        writer.integer(number)
        writer.integer(frame)
        return writer.bytes
    }

    /// Reads a body. Throws `WireError`.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        number = try reader.integer(UInt32.self)
        frame = try reader.integer(Int64.self)
        try reader.end()
        guard frame >= 0 else { throw WireError("a frame before the first") }
    }
}

/// A failure after which no message follows; the body of `WireMessage.failed`.
package struct WireFailure: Error, Equatable, Sendable {
    /// Kind of failure, which decides the daemon's reaction.
    package enum Kind: UInt8, Sendable {
        /// Missing, refused, forbidden.
        case unavailable = 1
        /// The content has no supported format.
        case notRecognised = 2
        /// Broken, or outside the limits.
        case broken = 3
        /// The connection was lost, or the file cannot be read any more.
        case lost = 4
        /// This machine has no route to it, no name server answers, or its clock is not set.
        case noNetwork = 5
        /// Its address fails now, but may work later.
        case unreachable = 6
        /// It begins as the stream that broke: it was a file, and has ended.
        case ended = 7
    }

    package var kind: Kind
    /// A sentence for people, without the address.
    package var message: String

    /// A failure, by its parts.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The body.
    package var bytes: [UInt8] {
        var writer = WireWriter()
        writer.integer(kind.rawValue)
        writer.text(String(message.prefix(400)))
        return writer.bytes
    }

    /// Reads a body. Throws `WireError`.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        guard let kind = Kind(rawValue: try reader.integer(UInt8.self)) else { throw WireError("an unknown failure") }
        self.kind = kind
        message = try reader.text(limit: 4096)
        try reader.end()
    }
}
