import CLinux
import Glibc
import LinuxSystem
package import NowPlaying

/// The measured loudness of files: a hash table in one file, which nowplaying-library writes. A missing, foreign or damaged
/// table says nothing about any item.
///
/// The file is a header and slots (open addressing, linear probing). Each slot has a sum of its own, so that one that is just
/// being written counts as absent.
package struct LoudnessTable: Sendable {
    private let path: String

    /// The table in the daemon's state directory.
    package init(stateDirectory: String) { self.init(path: Self.path(in: stateDirectory)) }

    /// The table in a file.
    init(path: String) { self.path = path }

    /// Path of the table in the daemon's state directory.
    package static func path(in stateDirectory: String) -> String { stateDirectory + "/loudness" }

    /// Values of a file; nil: none are known. Opens the table and reads at most three parts of it. May block as long as
    /// a read of the state directory; keeps nothing.
    package func tags(of key: LoudnessKey) -> LoudnessTags? {
        guard let file = LoudnessFile(path), let slots = file.slots(of: key) else { return nil }
        for (_, slot) in slots {
            if slot.isFree { return nil }
            if slot.belongs(to: key) { return slot.tags }
        }
        return nil
    }
}

/// The open file of a table whose header and length are valid.
struct LoudnessFile {
    /// Access to the file.
    enum Access {
        case reading, writing

        fileprivate var flag: Int32 {
            switch self {
            case .reading: O_RDONLY
            case .writing: O_RDWR
            }
        }
    }

    private let descriptor: OwnedDescriptor
    /// The header at the time of opening.
    let header: LoudnessHeader

    /// Opens the table; nil: there is none. Neither a pipe nor a link leads anywhere.
    init?(_ path: String, _ access: Access = .reading) {
        let number = linux_open(path, access.flag | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard number >= 0 else { return nil }
        descriptor = OwnedDescriptor(number)
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let words = Self.read(number, at: 0, count: 1)?.first, let header = LoudnessHeader(words: words),
            Int(status.st_size) == header.byteCount
        else { return nil }
        self.header = header
    }

    /// The slots in which a key can be, in the order of the search, with their numbers; nil: they cannot be read.
    func slots(of key: LoudnessKey) -> [(number: Int, slot: LoudnessSlot)]? {
        let home = header.home(of: key)
        let count = min(header.searched, header.slots - home)
        guard let first = slots(from: home, count: count) else { return nil }
        if count == header.searched { return first }
        guard let second = slots(from: 0, count: header.searched - count) else { return nil }
        return first + second
    }

    private func slots(from first: Int, count: Int) -> [(number: Int, slot: LoudnessSlot)]? {
        Self.read(descriptor.number, at: header.offset(of: first), count: count).map { found in
            found.indices.map { (first + $0, LoudnessSlot(words: found[$0])) }
        }
    }

    /// Writes the words of a slot or of a header at an offset. Returns false if that failed.
    func write(_ words: SIMD4<UInt64>, at offset: Int) -> Bool {
        var words = words
        return pwrite(descriptor.number, &words, LoudnessSlot.byteCount, off_t(offset)) == LoudnessSlot.byteCount
    }

    private static func read(_ descriptor: Int32, at offset: Int, count: Int) -> [SIMD4<UInt64>]? {
        var words = [SIMD4<UInt64>](repeating: .zero, count: count)
        let bytes = count * LoudnessSlot.byteCount
        return pread(descriptor, &words, bytes, off_t(offset)) == bytes ? words : nil
    }
}
