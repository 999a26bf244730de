import CLinux
import Glibc
import LinuxSystem
package import PlaybackEngine
import Synchronization

/// A long list of entries in a file of its own, written before the queue gets them. The queue's log only names the
/// file, so the loop does not write a million entries. The file survives the process, but it may not survive the
/// machine. It is removed when the next snapshot of the queue has its entries. Any thread; all but `deinit` may wait
/// for the disk.
package final class AddedList: Sendable {
    /// Entries in a list, at least; shorter additions go into the log.
    package static let leastEntries = 1024

    /// Number of the list; its upper half is the same for one run of the daemon.
    let number: UInt64
    /// Entries in it.
    let count: Int
    private let path: String
    private let isNamed = Mutex(false)

    fileprivate init(_ folder: String, number: UInt64, count: Int) {
        self.number = number
        self.count = count
        path = folder + "/" + Self.name(number)
    }

    deinit {
        if isNamed.withLock({ $0 }) { return }
        let path = path
        // Without a thread, the file stays until the next start.
        _ = DetachedThread.start("lists") { unlink(path) }
    }

    private static func name(_ number: UInt64) -> String { String(number, radix: 16) }

    /// Marks the list as named by a log: its file stays until `remove`, even after a crash.
    func markNamed() { isNamed.withLock { $0 = true } }

    /// Removes the file.
    func remove() {
        markNamed()
        unlink(path)
    }

    // MARK: The file

    /// Entries that are encoded in one frame.
    private static let entriesInFrame = 4096
    /// Larger files are not ours.
    private static let maximumBytes = 1 << 30

    /// Writes the entries. False: the disk refused them.
    fileprivate func write(_ entries: EntryList) -> Bool {
        let file = linux_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        var iterator = entries.makeIterator()
        var index: UInt64 = 0
        while true {
            var writer = EntryWriter()
            var count = 0
            while count < Self.entriesInFrame, let entry = iterator.next() {
                writer.entry(entry)
                count += 1
            }
            if count == 0 { return true }
            var payload = ByteWriter()
            payload.number(count)
            payload.append(writer.bytes)
            guard Self.write(Journal.frame(payload.bytes, sequence: index, identity: number), to: file) else {
                return false
            }
            index += 1
        }
    }

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress! + done, $0.count - done) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Reads the list of this number and its entries; nil: its file is missing or damaged.
    static func read(_ number: UInt64, count: Int, in folder: String) -> (list: AddedList, entries: EntryList)? {
        let list = AddedList(folder, number: number, count: count)
        // A file of an earlier run stays even if it is unreadable.
        list.markNamed()
        guard case .success(let bytes) = WholeFile.read(list.path, upTo: maximumBytes),
            let entries = try? bytes.withUnsafeBytes({ try list.entries(in: $0) }), entries.count == count
        else { return nil }
        return (list, entries)
    }

    private func entries(in bytes: UnsafeRawBufferPointer) throws(ByteReader.Malformed) -> EntryList {
        var reader = ByteReader(bytes)
        var entries = EntryList()
        var index: UInt64 = 0
        while reader.remaining > 0 {
            let (sequence, payload) = try Journal.frame(&reader, number)
            guard sequence == index else { throw ByteReader.Malformed() }
            index += 1
            var piece = ByteReader(payload)
            let count = try piece.count(upTo: piece.remaining)
            var new = ContiguousArray<QueueEntry>()
            new.reserveCapacity(count)
            var entryReader = EntryReader()
            for _ in 0..<count { new.append(try entryReader.entry(&piece)) }
            entries.append(contentsOf: new)
        }
        return entries
    }
}

/// The folder of added lists of all sessions of a state directory. Any thread; may wait for the disk.
package final class AddedLists: Sendable {
    private let folder: String
    /// The upper half of the numbers of this run.
    private let run: UInt64
    private let last = Mutex<UInt64>(0)

    /// The lists below this state directory.
    package init(stateDirectory: String) {
        folder = Self.folder(of: stateDirectory)
        run = UInt64(UInt32.random(in: 1 ... .max)) << 32
    }

    /// Folder of the lists below a state directory.
    static func folder(of stateDirectory: String) -> String { stateDirectory + "/lists" }

    /// Writes a list; nil: the disk refused it.
    package func write(_ entries: EntryList) -> AddedList? {
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { return nil }
        let number = last.withLock { last in
            last += 1
            return run | last
        }
        let list = AddedList(folder, number: number, count: entries.count)
        return list.write(entries) ? list : nil
    }

    /// Removes the lists of earlier runs except those with these numbers.
    package func removeOthers(than numbers: Set<UInt64>) {
        guard let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let number = UInt64(name, radix: 16), number >> 32 != run >> 32, !numbers.contains(number) else {
                continue
            }
            unlink(folder + "/" + name)
        }
    }
}
