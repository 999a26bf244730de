/// An order to the process that reads tracks: the facts of the files whose descriptors are sent with it. Eight bytes:
/// 3, three zeros, the number of files, 1 for all fields of their tags or 0, two zeros.
package struct TrackOrder: Equatable, Sendable {
    /// Bytes of an order.
    package static let bytes = 8
    /// Files of one order, at most: as many as one message of the socket carries.
    package static let maximumFiles = 16

    private static let kind: UInt8 = 3

    /// Number of the files.
    package let files: Int
    /// True if all fields of the tags are requested by their names.
    package let keepsComments: Bool

    /// An order for this number of files, 1 to `maximumFiles`.
    package init(files: Int, keepsComments: Bool = false) {
        self.files = files
        self.keepsComments = keepsComments
    }

    /// The order as bytes.
    package var bytes: [UInt8] {
        [Self.kind, 0, 0, 0, UInt8(truncatingIfNeeded: files), keepsComments ? 1 : 0, 0, 0]
    }

    /// Reads an order; nil: the bytes are no order.
    package init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == Self.bytes, bytes[0] == Self.kind, (1...Self.maximumFiles).contains(Int(bytes[4])),
            bytes[1...3].allSatisfy({ $0 == 0 }), bytes[5] <= 1, bytes[6...].allSatisfy({ $0 == 0 })
        else { return nil }
        files = Int(bytes[4])
        keepsComments = bytes[5] == 1
    }
}
