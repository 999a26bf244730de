import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import MediaAccess

/// Damaged, foreign and unwritable tables of loudness.
@Suite struct LoudnessDamageTests {
    private let folder = TemporaryFolder(isInMemory: true)
    private var path: String { folder.path("loudness") }
    private var table: LoudnessTable { LoudnessTable(path: path) }
    private var writer: LoudnessTableWriter { LoudnessTableWriter(path) }
    private let keys = (0..<12).map { LoudnessKey(size: 1, modified: 2, inode: Int64($0)) }
    private let values = LoudnessTags(trackGain: -6, trackPeak: 0.5)

    private func bytes() throws -> [UInt8] {
        try writer.replace(with: keys.map { ($0, values) })
        return folder.read("loudness")
    }

    @Test("a table that was cut anywhere says nothing, and cannot be changed") func truncations() throws {
        let whole = try bytes()
        for length in 0..<whole.count {
            _ = folder.write(Array(whole[..<length]), "loudness")
            #expect(keys.allSatisfy { table.tags(of: $0) == nil })
            #expect(!writer.set(keys[0], values))
            #expect(folder.read("loudness").count == length)
        }
        _ = folder.write(whole + [0], "loudness")
        #expect(table.tags(of: keys[0]) == nil)
        _ = folder.write(whole, "loudness")
        #expect(keys.allSatisfy { table.tags(of: $0) == values })
    }

    @Test("a changed byte of the header hides the table, one of a slot hides at most that slot") func changes() throws {
        let whole = try bytes()
        let size = LoudnessSlot.byteCount
        for place in whole.indices {
            for change in [0x01, 0x80, 0xff] as [UInt8] {
                var changed = whole
                changed[place] ^= change
                _ = folder.write(changed, "loudness")
                let found = keys.map { table.tags(of: $0) }
                #expect(found.allSatisfy { $0 == nil || $0 == values })
                let missing = found.count { $0 == nil }
                if place < 24 {
                    #expect(missing == keys.count)
                } else if place >= size {
                    let isFree = whole[(place / size * size)..<(place / size * size + size)].allSatisfy { $0 == 0 }
                    #expect(missing == (isFree ? 0 : 1))
                }
            }
        }
    }

    @Test("a slot of which only a part was written counts as absent, and the others stay") func torn() throws {
        let whole = try bytes()
        let size = LoudnessSlot.byteCount
        let new = LoudnessTags(trackGain: 3, trackPeak: 0.25, albumGain: 1, albumPeak: 1)
        for key in keys {
            #expect(writer.set(key, new))
            let changed = folder.read("loudness")
            let start = try #require(whole.indices.first { whole[$0] != changed[$0] }) / size * size
            for part in 0...size {
                var torn = whole
                torn.replaceSubrange(start..<(start + part), with: changed[start..<(start + part)])
                _ = folder.write(torn, "loudness")
                let expected = torn == whole ? values : torn == changed ? new : nil
                #expect(table.tags(of: key) == expected)
                for other in keys where other != key { #expect(table.tags(of: other) == values) }
                // Its owner writes the whole table again.
                #expect(writer.set(key, new) == (expected != nil))
            }
            _ = folder.write(whole, "loudness")
        }
    }

    @Test("random bytes say nothing, whatever header they have", arguments: 0..<40) func garbage(seed: Int) throws {
        var random = SystemRandomNumberGenerator()
        let header = LoudnessHeader(exponent: 4 + seed % 4, used: 3)
        var bytes = (0..<header.byteCount).map { _ in UInt8.random(in: 0...255, using: &random) }
        _ = folder.write(bytes, "loudness")
        #expect(keys.allSatisfy { table.tags(of: $0) == nil })
        withUnsafeBytes(of: header.words) { bytes.replaceSubrange(0..<LoudnessSlot.byteCount, with: $0) }
        _ = folder.write(bytes, "loudness")
        #expect(keys.allSatisfy { table.tags(of: $0) == nil && !writer.set($0, values) })
    }

    @Test("a header with impossible numbers is none") func header() {
        for exponent in [0, 3, 27, 63] {
            #expect(LoudnessHeader(words: LoudnessHeader(exponent: exponent, used: 0).words) == nil)
        }
        for exponent in LoudnessHeader.exponents {
            let header = LoudnessHeader(exponent: exponent, used: 1 << exponent)
            #expect(LoudnessHeader(words: header.words) == header)
            var words = header.words
            words[3] += 1
            #expect(LoudnessHeader(words: words) == nil)
            words[3] = .max
            #expect(LoudnessHeader(words: words) == nil)
        }
    }

    @Test("neither a folder nor a pipe nor a link nor a device is a table, and none makes a caller wait") func kinds()
        throws
    {
        let elsewhere = TemporaryFolder(isInMemory: true)
        try LoudnessTableWriter(elsewhere.path("loudness")).replace(with: keys.map { ($0, values) })
        let makers: [(String) -> Int32] = [
            { mkdir($0, 0o700) }, { mkfifo($0, 0o600) }, { symlink("/dev/zero", $0) },
            { [elsewhere] in symlink(elsewhere.path("loudness"), $0) }, { symlink("loudness", $0) },
        ]
        for (place, make) in makers.enumerated() {
            try #require(make(path) == 0)
            #expect(table.tags(of: keys[0]) == nil)
            #expect(!writer.set(keys[0], values))
            // Only a folder cannot give way to a new table.
            if place > 0 {
                try writer.replace(with: [(keys[0], values)])
                #expect(table.tags(of: keys[0]) == values)
            }
            try #require(remove(path) == 0)
        }
    }

    @Test("a table that cannot be written is an error, and leaves nothing behind") func unwritable() throws {
        let missing = LoudnessTableWriter(folder.path("no/loudness"))
        #expect(throws: SystemError("create \(folder.path("no/loudness")).new", code: ENOENT)) {
            try missing.replace(with: [])
        }
        #expect(!missing.set(keys[0], values))
        folder.folder("loudness/inside")
        #expect(throws: SystemError("rename \(path).new to \(path)", code: EISDIR)) { try writer.replace(with: []) }
        #expect(access(path + ".new", F_OK) != 0)
        folder.folder("other.new")
        #expect(throws: SystemError("create \(folder.path("other.new"))", code: EISDIR)) {
            try LoudnessTableWriter(folder.path("other")).replace(with: [])
        }
        #expect(throws: SystemError("create /proc/loudness.new", code: ENOENT)) {
            try LoudnessTableWriter("/proc/loudness").replace(with: [])
        }
    }

    @Test("what an interrupted write left behind does no harm") func leftover() throws {
        try #require(mkfifo(path + ".new", 0o600) == 0)
        try writer.replace(with: [(keys[0], values)])
        #expect(table.tags(of: keys[0]) == values)
        #expect(access(path + ".new", F_OK) != 0)
    }
}
