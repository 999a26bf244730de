import Glibc
import TrackDatabase

/// Files without content that look to a scan like those of generated tracks.
struct EmptyFiles {
    private let folder: String
    private var last: [UInt8] = []

    /// Files below this folder.
    init(_ folder: String) { self.folder = folder }

    /// Makes the file of a record, of its size and time, and gives the record the number that the file system gave it. False:
    /// `errno` says why there is none.
    mutating func make(_ record: inout TrackRecord) -> Bool {
        let place = record.path.folder
        if place != last {
            makeFolder(String(decoding: place, as: UTF8.self))
            last = place
        }
        let path = "\(folder)/\(String(decoding: record.path.bytes, as: UTF8.self))"
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else { return false }
        defer { close(file) }
        let time = timespec(
            tv_sec: Int(record.file.modified / 1_000_000_000), tv_nsec: Int(record.file.modified % 1_000_000_000))
        var status = stat()
        guard ftruncate(file, off_t(record.file.size)) == 0, futimens(file, [time, time]) == 0,
            fstat(file, &status) == 0
        else { return false }
        record.file.inode = Int64(status.st_ino)
        // As after a while: nothing is left to be looked at.
        record.identity = Int64(bitPattern: UInt64(status.st_ino) &* 0x9E37_79B9_7F4A_7C15)
        return true
    }

    private func makeFolder(_ place: String) {
        var path = folder
        mkdir(path, 0o755)
        for part in place.split(separator: "/") {
            path += "/" + part
            mkdir(path, 0o755)
        }
    }
}
