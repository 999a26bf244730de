import CLinux
import Glibc
import LinuxSystem

/// Changes since the last write to the disk, in a file in memory (tmpfs). It survives the process, but not the machine,
/// and a write never waits for a disk. A mapped file of the state directory would: the first store after the kernel has
/// written a page back waits for the file system's journal, or for the page itself (stable pages).
///
/// The first page is mapped: identity of its journal, offset of the log, two slots for the position, path of the state
/// directory. The log after it holds frames of the journal.
final class StateMemory: @unchecked Sendable {
    // @unchecked: the loader creates and reads it, then the loop alone uses it.
    private static let magic: UInt64 = 0x6d65_6d51_504e_0001
    private static let pageBytes = 4096
    private static let slotsOffset = 1024

    private let descriptor: Int32
    private let page: UnsafeMutableRawPointer
    private let path: String
    /// Bytes of the file.
    private(set) var end: Int

    /// Opens or creates the memory of a state directory: in /dev/shm, or else in the directory itself. Nil: neither is
    /// possible.
    static func open(stateDirectory: String) -> StateMemory? {
        var status = stat()
        guard stat(stateDirectory, &status) == 0 else { return nil }
        return StateMemory(folder + "/" + name(of: status), of: stateDirectory)
            ?? StateMemory(stateDirectory + "/recent", of: stateDirectory)
    }

    private init?(_ path: String, of stateDirectory: String) {
        self.path = path
        descriptor = linux_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        var status = stat()
        // In a shared folder, another user may have created the file first.
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_mode & 0o077 == 0, status.st_nlink == 1,
            // The page must be allocated before a store, or a full memory would kill the process.
            posix_fallocate(descriptor, 0, off_t(Self.pageBytes)) == 0,
            let page = mmap(nil, Self.pageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), page != MAP_FAILED
        else {
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        self.page = page
        end = max(Self.pageBytes, Int(status.st_size))
        // Locked as long as the process lives: then it is no orphan, even if the folder is deleted.
        flock(descriptor, LOCK_SH | LOCK_NB)
        Self.note(stateDirectory, in: page)
    }

    deinit {
        munmap(page, Self.pageBytes)
        close(descriptor)
    }

    /// True if the memory belongs to the journal of this identity.
    func belongs(to identity: UInt64) -> Bool {
        page.load(as: UInt64.self) == Self.magic && page.load(fromByteOffset: 8, as: UInt64.self) == identity
    }

    /// Empties the memory for a new journal.
    func reset(identity: UInt64) {
        page.storeBytes(of: 0, as: UInt64.self)
        memset(page + Self.slotsOffset, 0, 2 * PositionSlot.byteCount)
        truncate()
        page.storeBytes(of: identity, toByteOffset: 8, as: UInt64.self)
        page.storeBytes(of: Self.magic, as: UInt64.self)
    }

    /// The frames of the log.
    func log() -> [UInt8] {
        let start = page.load(fromByteOffset: 16, as: Int.self)
        guard start >= Self.pageBytes, start < end else { return [] }
        var bytes = [UInt8](repeating: 0, count: end - start)
        let got = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(start)) }
        return Array(bytes.prefix(max(0, got)))
    }

    /// The bytes of one of the two slots.
    func slot(_ slot: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: page + Self.slotsOffset + slot * PositionSlot.byteCount, count: PositionSlot.byteCount)
    }

    /// Writes the slot for this number: even and odd numbers alternate.
    func setSlot(_ bytes: [UInt8], number: UInt64) {
        let slot = page + Self.slotsOffset + Int(number & 1) * PositionSlot.byteCount
        bytes.withUnsafeBytes {
            slot.copyMemory(from: $0.baseAddress!, byteCount: min($0.count, PositionSlot.byteCount))
        }
    }

    /// Appends frames to the log. False: the memory is full, and the log was dropped, as it must have no gaps.
    func append(_ frames: [UInt8]) -> Bool {
        let written = frames.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(end)) }
        guard written == frames.count else {
            truncate()
            return false
        }
        end += written
        return true
    }

    /// Drops the log before `offset` of the file: it is on the disk.
    func forget(before offset: Int) {
        if offset >= end { return truncate() }
        page.storeBytes(of: offset, toByteOffset: 16, as: Int.self)
        let whole = offset / Self.pageBytes * Self.pageBytes
        if whole > Self.pageBytes { linux_punch_hole(descriptor, Int64(Self.pageBytes), Int64(whole - Self.pageBytes)) }
    }

    /// Drops the invalid end of the log; `logBytes`: its valid bytes.
    func cut(logBytes: Int) {
        let start = page.load(fromByteOffset: 16, as: Int.self)
        guard start >= Self.pageBytes, start + logBytes < end else { return }
        end = start + logBytes
        ftruncate(descriptor, off_t(end))
    }

    private func truncate() {
        page.storeBytes(of: Self.pageBytes, toByteOffset: 16, as: Int.self)
        ftruncate(descriptor, off_t(Self.pageBytes))
        end = Self.pageBytes
    }

    /// Removes the file: its content is on the disk.
    func remove() { unlink(path) }
}
