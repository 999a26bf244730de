import TrackDatabase

/// The files of one folder in the database, one after the other in the order of their names.
struct KnownFiles: ~Copyable {
    private let reader: TrackReader
    private let folder: [UInt8]
    private let limit: Int
    private var page: [(name: [UInt8], file: ScanReader.KnownFile)] = []
    private var place = 0
    private var isLast = false

    /// The files of a folder, at most `limit` of them in memory at a time.
    init(_ reader: TrackReader, _ folder: [UInt8], page limit: Int) {
        self.reader = reader
        self.folder = folder
        self.limit = limit
    }

    /// The first file; nil: there are no more.
    mutating func first() throws(ScanFailure) -> (name: [UInt8], file: ScanReader.KnownFile)? {
        if place < page.count { return page[place] }
        guard !isLast else { return nil }
        let (reader, folder, limit, last) = (reader, folder, limit, page.last?.name ?? [])
        page = try ScanFailure.wrap { () throws(TrackDatabaseError) in
            try reader.scan.files(in: folder, after: last, limit: limit)
        }
        place = 0
        isLast = page.count < limit
        return page.first
    }

    /// Moves to the next file.
    mutating func drop() { place += 1 }
}
