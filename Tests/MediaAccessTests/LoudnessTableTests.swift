import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import MediaAccess

/// The table of measured loudness: every key, and every kind of damage.
@Suite struct LoudnessTableTests {
    private let folder = TemporaryFolder(isInMemory: true)
    private var path: String { folder.path("loudness") }
    private var table: LoudnessTable { LoudnessTable(path: path) }
    private var writer: LoudnessTableWriter { LoudnessTableWriter(path) }

    private static func key(_ number: Int) -> LoudnessKey {
        LoudnessKey(size: Int64(number), modified: 1_700_000_000_000_000_000, inode: Int64(number))
    }

    /// Values that tell one file from another, exact in 32 bits.
    private static func values(_ number: Int) -> LoudnessTags {
        var tags = LoudnessTags(trackGain: Double(number % 480) / 8 - 30, trackPeak: Double(1 + number % 64) / 64)
        if !number.isMultiple(of: 3) { (tags.albumGain, tags.albumPeak) = (-6.5, Double(1 + number % 32) / 32) }
        return tags
    }

    private static func entries(_ count: Int) -> [(LoudnessKey, LoudnessTags)] {
        (0..<count).map { (key($0), values($0)) }
    }

    @Test("each key finds its own values, and no other key any", arguments: [0, 1, 7, 8, 9, 500, 30_000])
    func keys(count: Int) throws {
        try writer.replace(with: Self.entries(count))
        for number in 0..<count { #expect(table.tags(of: Self.key(number)) == Self.values(number)) }
        for number in count..<(count + 500) { #expect(table.tags(of: Self.key(number)) == nil) }
        // At most half full, and no more than twice that.
        let slots = folder.read("loudness").count / LoudnessSlot.byteCount - 1
        #expect(slots >= max(16, 2 * count) && slots <= max(16, 4 * count))
    }

    @Test("a key depends on size, time and inode, and on nothing else") func keyParts() throws {
        let sizes: [Int64] = [0, 1, 2, .max], times: [Int64] = [.min, -1, 0, 1, 1_700_000_000_000_000_000]
        let inodes: [Int64] = [.min, 0, 1, 2]
        let all = sizes.flatMap { size in
            times.flatMap { time in inodes.map { LoudnessKey(size: size, modified: time, inode: $0) } }
        }
        #expect(Set(all).count == all.count && !all.contains { $0.number == 0 })
        let file = folder.write([1, 2, 3], "a")
        var status = stat()
        try #require(stat(file, &status) == 0 && symlink("a", folder.path("b")) == 0)
        let key = LoudnessKey(
            size: 3, modified: status.st_mtim.nanoseconds, inode: Int64(bitPattern: UInt64(status.st_ino)))
        #expect(LoudnessKey(status) == key)
        try #require(stat(folder.path("b"), &status) == 0)
        #expect(LoudnessKey(status) == key)
        for other in [folder.path, "/dev/null"] {
            try #require(stat(other, &status) == 0)
            #expect(LoudnessKey(status) == nil)
        }
    }

    @Test("gains in 32 bits, peaks never below the real ones, impossible values unknown") func values() throws {
        let cases: [(LoudnessTags, LoudnessTags?)] = [
            (LoudnessTags(trackGain: -6.02), LoudnessTags(trackGain: Double(Float(-6.02)))),
            (LoudnessTags(albumGain: 60), LoudnessTags(albumGain: 60)),
            (LoudnessTags(trackGain: 60.1, albumGain: -1), LoudnessTags(albumGain: -1)),
            (LoudnessTags(trackGain: .nan, albumGain: .infinity), nil),
            (LoudnessTags(trackPeak: 0.5), nil), (LoudnessTags(), nil),
            (LoudnessTags(trackGain: 0, trackPeak: 0), LoudnessTags(trackGain: 0)),
            (LoudnessTags(trackGain: 0, trackPeak: -1), LoudnessTags(trackGain: 0)),
            (LoudnessTags(trackGain: 0, trackPeak: 101, albumPeak: 100), LoudnessTags(trackGain: 0, albumPeak: 100)),
        ]
        for (number, one) in cases.enumerated() {
            try writer.replace(with: [(Self.key(number), one.0)])
            #expect(table.tags(of: Self.key(number)) == one.1)
            try writer.replace(with: [])
            #expect(writer.set(Self.key(number), one.0))
            #expect(table.tags(of: Self.key(number)) == one.1)
        }
        for step in 1...1000 {
            let peak = Double(step) / 777
            try writer.replace(with: [(Self.key(0), LoudnessTags(trackGain: 1, trackPeak: peak))])
            let read = try #require(table.tags(of: Self.key(0))?.trackPeak)
            #expect(read >= peak && read <= peak * (1 + 1e-6))
        }
    }

    @Test("of equal keys the last counts, and the order of entries makes no other table") func order() throws {
        let entries = Self.entries(300)
        try writer.replace(with: entries)
        let bytes = folder.read("loudness")
        try writer.replace(with: [(Self.key(7), LoudnessTags(trackGain: 1))] + entries.reversed())
        #expect(folder.read("loudness") == bytes)
    }

    @Test("a table with the same bytes is not written again; any other is") func same() throws {
        func inode() -> UInt64 {
            var status = stat()
            return stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
        }
        // More than one part of the comparison, the last of them not whole.
        let entries = Self.entries(3000)
        try writer.replace(with: entries)
        let (first, bytes) = (inode(), folder.read("loudness"))
        try writer.replace(with: entries)
        #expect(inode() == first)
        for place in [0, 31, 32, 65_535, 65_536, bytes.count - 1] {
            var changed = bytes
            changed[place] ^= 1
            _ = folder.write(changed, "loudness")
            let before = inode()
            try writer.replace(with: entries)
            #expect(inode() != before && folder.read("loudness") == bytes)
        }
        for wrong in [Array(bytes.dropLast()), bytes + [0], []] {
            _ = folder.write(wrong, "loudness")
            try writer.replace(with: entries)
            #expect(folder.read("loudness") == bytes)
        }
    }

    @Test("values are set in place until the table is three quarters full") func inPlace() throws {
        #expect(!writer.set(Self.key(0), Self.values(0)))
        #expect(folder.read("loudness").isEmpty)
        try writer.replace(with: Self.entries(100))
        var status = stat()
        try #require(stat(path, &status) == 0)
        let inode = status.st_ino
        // 256 slots.
        for number in 100..<192 {
            #expect(writer.set(Self.key(number), Self.values(number)))
            #expect(table.tags(of: Self.key(number)) == Self.values(number))
        }
        #expect(!writer.set(Self.key(192), Self.values(192)))
        #expect(table.tags(of: Self.key(192)) == nil)
        for number in 0..<192 {
            #expect(table.tags(of: Self.key(number)) == Self.values(number))
            #expect(writer.set(Self.key(number), Self.values(number + 1)))
            #expect(table.tags(of: Self.key(number)) == Self.values(number + 1))
        }
        try #require(stat(path, &status) == 0)
        #expect(status.st_ino == inode)
        // Without values an entry says nothing.
        #expect(writer.set(Self.key(5), LoudnessTags()))
        #expect(table.tags(of: Self.key(5)) == nil)
        try writer.replace(with: Self.entries(193))
        #expect(writer.set(Self.key(193), Self.values(193)))
    }

    @Test("a table that grows by one entry at a time knows all of them") func growth() throws {
        var entries: [(LoudnessKey, LoudnessTags)] = []
        var replaced = 0
        for entry in Self.entries(2000) {
            entries.append(entry)
            if !writer.set(entry.0, entry.1) {
                try writer.replace(with: entries)
                replaced += 1
            }
            #expect(table.tags(of: entry.0) == entry.1)
        }
        for entry in entries { #expect(table.tags(of: entry.0) == entry.1) }
        #expect(replaced <= 9)
    }

    @Test("keys that all begin at the same place fit, or are left out, and are found within reach") func collisions()
        throws
    {
        // Numbers that are equal in their lower 20 bits, as only a forger makes them.
        let keys = Array((1...).lazy.map { Self.key($0) }.filter { $0.number & 0xfff == 0xffe }.prefix(200))
        let entries = keys.map { ($0, LoudnessTags(trackGain: -1)) }
        try writer.replace(with: entries)
        let found = entries.count { table.tags(of: $0.0) != nil }
        // In up to 2048 slots all of them begin at the last but one, so that the search begins again at the first.
        #expect(found == LoudnessHeader.reach)
        let absent = try #require(entries.last { table.tags(of: $0.0) == nil })
        #expect(!writer.set(absent.0, absent.1))
    }
}
