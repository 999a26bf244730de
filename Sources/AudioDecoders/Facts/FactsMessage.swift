package import AudioCore
package import ChildDecoding
import TrackReading

/// An order to nowplaying-tags: read the file whose descriptor comes with it. Eight bytes: the extent, and zeros.
package struct FactsOrder: Equatable, Sendable {
    /// Bytes of an order.
    package static let bytes = 8

    /// Limits of the answer.
    package let extent: FileFacts.Extent

    /// An order for facts of this extent.
    package init(_ extent: FileFacts.Extent) { self.extent = extent }

    /// The order as bytes.
    package var bytes: [UInt8] { [extent.isWhole ? 2 : 1, 0, 0, 0, 0, 0, 0, 0] }

    /// Reads an order. Throws `WireError`.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        switch Array(bytes) {
        case [1, 0, 0, 0, 0, 0, 0, 0]: extent = .listed
        case [2, 0, 0, 0, 0, 0, 0, 0]: extent = .whole
        default: throw WireError("an order that is none")
        }
    }
}

/// The answer of nowplaying-tags about one file: eight bytes of header (kind, three zero bytes, length of the body as UInt32)
/// and a body.
package enum FactsAnswer: Equatable, Sendable {
    case found(FileFacts)
    /// The file is of a kind that nowplaying-decode reads.
    case isForeign
    case refused(DecodingError)

    /// Bytes of a header.
    package static let headerBytes = 8
    /// Maximum bytes of the text of a refusal.
    private static let wordBytes = 512

    private enum Kind: UInt8 {
        case found = 16
        case foreign, refused
    }

    private static let refusals: [DecodingError.Kind] = [
        .unavailable, .notRecognised, .broken, .mediaGone, .notMounted,
    ]

    /// The whole message.
    package func bytes(_ extent: FileFacts.Extent) -> [UInt8] {
        let kind: Kind
        var body: [UInt8] = []
        switch self {
        case .found(let facts): (kind, body) = (.found, facts.bytes(extent))
        case .isForeign: kind = .foreign
        case .refused(let error):
            kind = .refused
            var writer = WireWriter()
            writer.integer(UInt8(Self.refusals.firstIndex(of: error.kind) ?? 0))
            writer.text(String(decoding: error.message.utf8.prefix(Self.wordBytes - 4), as: UTF8.self))
            body = writer.bytes
        }
        var writer = WireWriter()
        writer.integer(kind.rawValue)
        writer.integer(UInt8(0))
        writer.integer(UInt16(0))
        writer.integer(UInt32(body.count))
        return writer.bytes + body
    }

    /// Bytes of the body that a header announces. Throws `WireError` for an invalid header or a body that is too long.
    package static func count(
        _ header: some Collection<UInt8>, _ extent: FileFacts.Extent
    ) throws(WireError) -> Int {
        try announced(header, extent).count
    }

    private static func announced(
        _ header: some Collection<UInt8>, _ extent: FileFacts.Extent
    ) throws(WireError) -> (kind: Kind, count: Int) {
        var reader = WireReader(header)
        guard let kind = Kind(rawValue: try reader.integer(UInt8.self)) else { throw WireError("an unknown answer") }
        guard try reader.integer(UInt8.self) == 0, try reader.integer(UInt16.self) == 0 else {
            throw WireError("a header with unknown bits")
        }
        let count = Int(try reader.integer(UInt32.self))
        try reader.end()
        let most = kind == .found ? extent.bytes : kind == .foreign ? 0 : wordBytes
        guard count <= most else { throw WireError("an answer of \(count) bytes") }
        return (kind, count)
    }

    /// Reads a whole message of hostile bytes. Throws `WireError`.
    package init(_ bytes: some Collection<UInt8>, _ extent: FileFacts.Extent) throws(WireError) {
        let (kind, count) = try Self.announced(bytes.prefix(Self.headerBytes), extent)
        let body = bytes.dropFirst(Self.headerBytes)
        guard body.count == count else { throw WireError("an answer of another length") }
        switch kind {
        case .found: self = .found(try FileFacts(body, extent))
        case .foreign: self = .isForeign
        case .refused:
            var reader = WireReader(body)
            let number = Int(try reader.integer(UInt8.self))
            guard Self.refusals.indices.contains(number) else { throw WireError("an unknown refusal") }
            let words = TagText.text(try reader.bytes(limit: Self.wordBytes))
            try reader.end()
            self = .refused(DecodingError(Self.refusals[number], words ?? "it cannot be read"))
        }
    }
}
