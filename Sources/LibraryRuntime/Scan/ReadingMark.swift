import TrackDatabase

/// The way in which this program reads tags, as a number for each root in the database. The next full scan reads a root
/// again whose files were read in another way.
enum ReadingMark {
    /// Goes up by one with each change of the texts that the same file gives.
    private static let version: UInt64 = 1

    /// The way of this program with this character set of old tags.
    static func present(charset: String?) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ version
        for byte in (charset ?? "").lowercased().utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int64(bitPattern: hash)
    }

    /// Key in the database of the way in which a root was read.
    static func key(_ root: [UInt8]) -> String { "scan.reading." + String(decoding: root, as: UTF8.self) }
}
