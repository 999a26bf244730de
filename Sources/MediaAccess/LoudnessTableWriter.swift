import CLinux
import Glibc
package import LinuxSystem
package import NowPlaying

/// Writes the table of loudness that the daemon reads. One thread of one process uses it.
package struct LoudnessTableWriter: Sendable {
    /// Bytes of one read for the comparison with the present table.
    private static let part = 1 << 16

    private let path: String

    /// A writer for the table at this path.
    package init(_ path: String) { self.path = path }

    /// Replaces the whole table, unless it already has these bytes. Of several entries with one key, the last counts. A
    /// reader finds the old table or the new one. Waits for the disk. Throws if a file cannot be written; the old table stays.
    package func replace(with entries: [(LoudnessKey, LoudnessTags)]) throws(SystemError) {
        let words = LoudnessImage.words(of: entries)
        if hasFile(words) { return }
        let new = path + ".new"
        let file = FreshFile.make(new)
        guard file >= 0 else { throw SystemError("create \(new)") }
        defer { close(file) }
        do throws(SystemError) {
            try write(words, to: file, new)
            guard fsync(file) == 0 else { throw SystemError("write \(new)") }
            guard rename(new, path) == 0 else { throw SystemError("rename \(new) to \(path)") }
        } catch {
            unlink(new)
            throw error
        }
    }

    /// Sets the values of one file in place. False: there is no table, it has no room, it is damaged, or it cannot be
    /// written; the caller replaces the whole table.
    package func set(_ key: LoudnessKey, _ tags: LoudnessTags) -> Bool {
        guard let file = LoudnessFile(path, .writing), let slots = file.slots(of: key) else { return false }
        let new = LoudnessSlot(key, tags)
        for (number, slot) in slots {
            let offset = file.header.offset(of: number)
            if slot.belongs(to: key) { return slot == new || file.write(new.words, at: offset) }
            if slot.isFree {
                var header = file.header
                header.used += 1
                guard header.used * 4 <= header.slots * 3 else { return false }
                return file.write(new.words, at: offset) && file.write(header.words, at: 0)
            }
            if !slot.isIntact { return false }
        }
        return false
    }

    private func write(_ words: [SIMD4<UInt64>], to file: Int32, _ name: String) throws(SystemError) {
        let failure = words.withUnsafeBytes { bytes -> SystemError? in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Glibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return SystemError("write \(name)") }
                rest = rest.dropFirst(written)
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// True if the table is a file with exactly these words.
    private func hasFile(_ words: [SIMD4<UInt64>]) -> Bool {
        let number = linux_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard number >= 0 else { return false }
        defer { close(number) }
        var status = stat()
        return words.withUnsafeBytes { bytes in
            guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == bytes.count
            else { return false }
            var found = [UInt8](repeating: 0, count: Self.part)
            return stride(from: 0, to: bytes.count, by: Self.part).allSatisfy { offset in
                let count = min(Self.part, bytes.count - offset)
                guard pread(number, &found, count, off_t(offset)) == count else { return false }
                return found[..<count].elementsEqual(bytes[offset..<(offset + count)])
            }
        }
    }
}
