import Glibc
import TestSupport
import Testing

@testable import LibraryRuntime

/// Watched folders between two scans.
@Suite struct ScanMemoryTests {
    private let place = TemporaryFolder()

    /// A root with so many folders in it, and their numbers.
    private func memory(_ count: Int) -> ScanMemory {
        let memory = ScanMemory()
        let root = memory.add(root: 1, parent: nil, name: [])
        for number in 1..<count { _ = memory.add(root: 1, parent: root, name: Array("folder \(number)".utf8)) }
        return memory
    }

    private func name(_ number: Int32, _ memory: ScanMemory) -> String? {
        memory.folders.place(of: number).map { String(decoding: $0.relative, as: UTF8.self) }
    }

    @Test("many folders lie in a file, and come back with those that were added and removed")
    func many() throws {
        let memory = memory(5000)
        for round in 0..<3 {
            // Twice unchanged, once changed.
            if round == 1 { _ = memory.remove(4000) }
            if round == 1 { #expect(memory.add(root: 1, parent: 1, name: [0xFF]) == 5001) }
            let next = memory.folders.next
            memory.rest(in: place.path)
            #expect(memory.folders.count == 0 && memory.folders.next == next)
            memory.rest(in: place.path)
            #expect(memory.wake() && memory.wake())
            #expect(memory.folders.next == next)
            #expect(name(4999, memory) == "folder 4998" && name(1, memory) == "")
            #expect(name(4000, memory) == (round == 0 ? "folder 3999" : nil))
            #expect(memory.folders.place(of: 5001)?.relative == (round == 0 ? nil : [0xFF]))
            #expect(memory.folders.number(root: 1, relative: Array("folder 77".utf8)) == 78)
        }
    }

    @Test("few folders, and those for which there is no room, stay in memory")
    func stay() {
        let few = memory(100)
        few.rest(in: place.path)
        #expect(few.folders.count == 100 && few.wake() && name(99, few) == "folder 98")
        let many = memory(5000)
        many.rest(in: place.path("none"))
        #expect(many.folders.count == 5000 && many.wake() && name(99, many) == "folder 98")
    }

    @Test("of a file that is cut off nothing is taken, and numbers go on")
    func cut() throws {
        let memory = memory(5000)
        memory.rest(in: place.path)
        var buffer = [CChar](repeating: 0, count: 4096)
        let descriptor = (3..<Int32(1024)).first { number in
            let count = readlink("/proc/self/fd/\(number)", &buffer, 4096)
            return count > 0
                && String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self).hasPrefix(place.path)
        }
        #expect(ftruncate(try #require(descriptor), 20_000) == 0)
        #expect(!memory.wake())
        #expect(memory.folders.count == 0 && memory.folders.next == 5001)
    }
}
