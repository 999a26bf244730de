import LinuxSystem
import Testing

@Suite struct PackedPathTests {
    @Test("a path is the same before and after") func sameBytes() throws {
        for count in 0...300 {
            let bytes = (0..<count).map { UInt8(1 + ($0 * 7 + count) % 255) }
            let path = try #require(FilePath(bytes))
            let packed = PackedPath(path)
            #expect(packed.path == path)
            #expect(packed.count == count)
            #expect(packed.withBytes { Array($0) } == bytes)
            #expect(PackedPath(bytes)?.path == path)
            #expect(packed == PackedPath(path))
        }
        #expect(PackedPath([0x2f, 0]) == nil)
        #expect(FilePath([0x2f, 0, 0x61]) == nil)
    }

    @Test("the common start ends at the first other byte") func commonStart() throws {
        for count in 0...40 {
            let bytes = [UInt8](repeating: 0x61, count: count)
            let path = try #require(PackedPath(bytes))
            for place in 0...count {
                var other = bytes
                if place < count { other[place] = 0xe1 }
                let changed = try #require(PackedPath(other))
                let shorter = try #require(PackedPath(Array(bytes[..<place])))
                #expect(path.commonStart(with: changed) == place)
                #expect(changed.commonStart(with: path) == place)
                #expect(path.commonStart(with: shorter) == place)
                #expect(shorter.commonStart(with: path) == place)
                #expect((path == changed) == (place == count))
                #expect((path == shorter) == (place == count))
            }
        }
    }

    @Test("a path has one word, so that an item of the queue is small") func size() {
        #expect(MemoryLayout<PackedPath>.size == 8)
        #expect(MemoryLayout<PackedPath?>.size == 8)
    }
}
