import Glibc

/// Watched folders, by the numbers of their watches. A folder takes about thirty bytes.
struct WatchedFolders {
    private struct Entry {
        let parent: Int32
        let offset: UInt32
        let length: UInt16
        var root: UInt16
    }

    private var entries: [Entry] = []
    private var names: [UInt8] = []
    /// Number of the first folder.
    private(set) var first: Int32
    private static let gone = UInt16.max

    /// No folders; numbers begin with `first`.
    init(first: Int32 = 1) { self.first = first }

    /// Number of folders, with the removed ones.
    var count: Int { entries.count }

    /// The number for the next folder.
    var next: Int32 { first + Int32(entries.count) }

    /// Adds a folder below another one, or a root (`parent` nil). Returns its number.
    mutating func add(root: Int, parent: Int32?, name: [UInt8]) -> Int32 {
        let number = next
        entries.append(
            Entry(
                parent: parent ?? 0, offset: UInt32(names.count), length: UInt16(name.count), root: UInt16(root)))
        names += name
        return number
    }

    private func entry(_ number: Int32) -> Entry? {
        let index = Int(number) - Int(first)
        guard entries.indices.contains(index), entries[index].root != Self.gone else { return nil }
        return entries[index]
    }

    private func name(_ entry: Entry) -> ArraySlice<UInt8> {
        names[Int(entry.offset)..<Int(entry.offset) + Int(entry.length)]
    }

    /// The place of a folder: its root and the path below it; nil: no folder has this number.
    func place(of number: Int32) -> (root: Int, relative: [UInt8])? {
        guard let found = entry(number) else { return nil }
        var parts: [ArraySlice<UInt8>] = []
        var current = found
        while current.parent != 0 {
            parts.append(name(current))
            guard let above = entry(current.parent) else { return nil }
            current = above
        }
        return (Int(found.root), Array(parts.reversed().joined(separator: [UInt8(ascii: "/")])))
    }

    /// The number of a folder by its place; nil: it is not watched.
    func number(root: Int, relative: [UInt8]) -> Int32? {
        var number = entries.firstIndex { $0.parent == 0 && Int($0.root) == root }.map { first + Int32($0) }
        for part in relative.split(separator: UInt8(ascii: "/")) {
            guard let parent = number else { return nil }
            number = children(of: parent)[Array(part)]
        }
        return number
    }

    /// The numbers of the folders in a folder, by name.
    func children(of number: Int32) -> [[UInt8]: Int32] {
        var found: [[UInt8]: Int32] = [:]
        for (index, entry) in entries.enumerated() where entry.parent == number && entry.root != Self.gone {
            found[Array(name(entry))] = first + Int32(index)
        }
        return found
    }

    /// Removes a folder and those below it. Returns their numbers.
    mutating func remove(_ number: Int32) -> Set<Int32> {
        var gone: Set<Int32> = [number]
        // A folder is listed after its parent.
        for (index, entry) in entries.enumerated() where gone.contains(entry.parent) {
            gone.insert(first + Int32(index))
        }
        for number in gone { entries[Int(number) - Int(first)].root = Self.gone }
        return gone
    }

    /// Removes the folders of a root. Returns their numbers.
    mutating func remove(root: Int) -> Set<Int32> {
        var gone: Set<Int32> = []
        for (index, entry) in entries.enumerated() where entry.root == UInt16(root) {
            gone.insert(first + Int32(index))
            entries[index].root = Self.gone
        }
        return gone
    }

    // MARK: Files

    private typealias Header = (first: Int32, entries: Int32, names: Int)

    /// Writes the folders into an empty file. False: the disk is full.
    func write(to file: Int32) -> Bool {
        var header: Header = (first, Int32(entries.count), names.count)
        let size = MemoryLayout<Header>.size
        return withUnsafeBytes(of: &header) { Self.write($0, to: file, at: 0) }
            && entries.withUnsafeBytes { Self.write($0, to: file, at: size) }
            && names.withUnsafeBytes {
                Self.write($0, to: file, at: size + entries.count * MemoryLayout<Entry>.stride)
            }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int) -> Bool {
        var rest = bytes[...]
        while let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
            let count = pwrite(file, base, rest.count, offset + bytes.count - rest.count)
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// The folders in a file of `write`; nil: it can't be read.
    init?(readFrom file: Int32) {
        var header: Header = (1, 0, 0)
        let size = MemoryLayout<Header>.size
        guard withUnsafeMutableBytes(of: &header, { Self.read($0, file, at: 0) }) else { return nil }
        let (entries, names) = (Int(header.entries), header.names)
        first = header.first
        let offset = size + entries * MemoryLayout<Entry>.stride
        var isWhole = true
        self.entries = Array(unsafeUninitializedCapacity: entries) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)[..<(offset - size)]
            isWhole = Self.read(UnsafeMutableRawBufferPointer(rebasing: bytes), file, at: size)
            count = isWhole ? entries : 0
        }
        self.names = Array(unsafeUninitializedCapacity: names) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)[..<names]
            isWhole = isWhole && Self.read(UnsafeMutableRawBufferPointer(rebasing: bytes), file, at: offset)
            count = isWhole ? names : 0
        }
        guard isWhole else { return nil }
    }

    private static func read(_ bytes: UnsafeMutableRawBufferPointer, _ file: Int32, at offset: Int) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = pread(file, bytes.baseAddress! + done, bytes.count - done, offset + done)
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}
