/// The answer about one file of a `TrackOrder`: eight bytes of header (kind, version, index of the file as UInt16, length of
/// the body as UInt32) and a body; numbers are little-endian, those without a fixed length seven bits a byte.
package enum TrackAnswer: Equatable, Sendable {
    case found(TrackFacts)
    case refused(TrackReadingError)

    /// Bytes of a header.
    package static let headerBytes = 8
    /// Bytes of a body, at most.
    package static let maximumBody = 512 << 10

    private static let version: UInt8 = 1
    private static let found: UInt8 = 32
    private static let refused: UInt8 = 33

    /// Adds the whole message to `bytes`. `index`: index of the file in its order. Titles of chapters are left out: a
    /// library keeps their number.
    package func append(to bytes: inout [UInt8], index: Int) {
        let start = bytes.count
        var writer = PackedWriter(bytes)
        bytes = []
        switch self {
        case .found(let facts):
            Self.header(Self.found, index, &writer)
            facts.pack(into: &writer)
        case .refused(let error):
            Self.header(Self.refused, index, &writer)
            switch error {
            case .unreadable(let code):
                writer.byte(1)
                writer.number(UInt64(UInt32(bitPattern: code)))
            case .notAFile: writer.byte(2)
            case .notRecognised: writer.byte(3)
            }
        }
        bytes = writer.bytes
        let length = bytes.count - start - Self.headerBytes
        for place in 0..<4 { bytes[start + 4 + place] = UInt8(truncatingIfNeeded: length >> (8 * place)) }
    }

    private static func header(_ kind: UInt8, _ index: Int, _ writer: inout PackedWriter) {
        for byte in [
            kind, version, UInt8(truncatingIfNeeded: index), UInt8(truncatingIfNeeded: index >> 8), 0, 0, 0, 0,
        ] {
            writer.byte(byte)
        }
    }

    /// A header from untrusted bytes.
    package struct Header: Equatable, Sendable {
        fileprivate let isFound: Bool
        /// Index of the file in its order.
        package let index: Int
        /// Bytes of the body.
        package let length: Int

        /// Reads a header of `headerBytes` bytes. Throws `TrackMessageError` if it is invalid or its body is too long.
        package init(_ bytes: UnsafeRawBufferPointer) throws(TrackMessageError) {
            guard bytes.count >= TrackAnswer.headerBytes else { throw TrackMessageError("a header that ends too soon") }
            guard bytes[0] == TrackAnswer.found || bytes[0] == TrackAnswer.refused else {
                throw TrackMessageError("an unknown answer")
            }
            guard bytes[1] == TrackAnswer.version else { throw TrackMessageError("an answer of another version") }
            isFound = bytes[0] == TrackAnswer.found
            index = Int(bytes[2]) | Int(bytes[3]) << 8
            length = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
            guard length <= TrackAnswer.maximumBody else { throw TrackMessageError("an answer of \(length) bytes") }
        }
    }

    /// Reads the body after a header, from untrusted bytes. Throws `TrackMessageError`.
    package init(_ header: Header, _ body: UnsafeRawBufferPointer) throws(TrackMessageError) {
        var reader = PackedReader(body)
        if header.isFound {
            self = .found(try TrackFacts(&reader))
        } else {
            switch try reader.byte() {
            case 1: self = .refused(.unreadable(Int32(bitPattern: UInt32(try reader.number(most: UInt64(UInt32.max))))))
            case 2: self = .refused(.notAFile)
            case 3: self = .refused(.notRecognised)
            default: throw TrackMessageError("an unknown refusal")
            }
        }
        try reader.end()
    }
}
