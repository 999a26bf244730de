import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Long lists of entries, which have many pieces.
@Suite struct EntryListTests {
    private static func entry(_ number: Int64) -> QueueEntry {
        QueueEntry(id: ItemID(number), source: .file("/\(number)"))
    }

    private static func entries(_ numbers: some Sequence<Int64>) -> EntryList { EntryList(numbers.map(entry)) }

    @Test("an entry has three words: its id, its source and its details") func sizeOfEntry() {
        #expect(MemoryLayout<QueueEntry>.stride == 24)
    }

    /// Compares a list with a plain array of numbers, and copies from before a change with those of then.
    @Test(arguments: 0..<12) func agreesWithAnArray(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var list = EntryList()
        var model: [Int64] = []
        var next: Int64 = 1
        for _ in 0..<30 {
            let (before, old) = (list, model)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                let longest = [1, 3, 600, 3000][Int.random(in: 0..<4, using: &random)]
                let numbers = Array(next..<next + Int64.random(in: 0...Int64(longest), using: &random))
                // Numbers of another run of the daemon may be lower ones.
                next += Int64(numbers.count)
                let index = Int.random(in: 0...model.count, using: &random)
                list.insert(Self.entries(numbers), at: index)
                model.insert(contentsOf: numbers, at: index)
            case 4:
                guard !model.isEmpty else { break }
                for _ in 0..<Int.random(in: 1...5, using: &random) where !model.isEmpty {
                    let index = model.indices.randomElement(using: &random) ?? 0
                    #expect(list.remove(at: index).id.number == model.remove(at: index))
                }
            case 5:
                let first = Int.random(in: 0...model.count, using: &random)
                let count = Int.random(in: 0...1500, using: &random)
                let gone = Set(model[first...].prefix(count)).union(model.shuffled(using: &random).prefix(9))
                let removed = list.remove(Set(gone.map { ItemID($0) }))
                #expect(removed.map(\.id.number) == model.filter { gone.contains($0) })
                model.removeAll { gone.contains($0) }
            case 6:
                let indices = model.indices.shuffled(using: &random).prefix(20).sorted()
                let numbers = indices.map { model[$0] }.shuffled(using: &random)
                list.replace(indices, with: numbers.map(Self.entry))
                for (index, number) in zip(indices, numbers) { model[index] = number }
            default:
                guard let index = model.indices.randomElement(using: &random) else { break }
                var given = MediaMetadata()
                given.title = "\(seed)"
                list.setDetails(ItemDetails(given: given), at: index)
                #expect(list[index].details?.given.title == "\(seed)")
            }
            #expect(list.map(\.id.number) == model && list.count == model.count)
            #expect(list.textBytes == list.reduce(0) { $0 + $1.textBytes })
            for index in model.indices.shuffled(using: &random).prefix(50) {
                #expect(list[index].id.number == model[index])
                #expect(list.index(of: ItemID(model[index])) == index)
            }
            #expect(list.index(of: ItemID(next)) == nil)
            #expect(before.map(\.id.number) == old)
            if let highest = model.max() { #expect((list.highestNumber ?? 0) >= highest) }
        }
    }

    @Test("a list by indices is the list of a sequence", arguments: [0, 1, 511, 512, 513, 1000, 5000])
    func byIndices(count: Int) {
        let list = EntryList(count: count) { Self.entry(Int64($0) + 1) }
        let same = Self.entries((0..<count).map { Int64($0) + 1 })
        #expect(list.map(\.id) == same.map(\.id) && list.pieceCount == same.pieceCount)
        #expect(list.count == count && list.textBytes == same.textBytes && list.highestNumber == same.highestNumber)
        for (index, entry) in list.enumerated() where index % 37 == 0 { #expect(list.index(of: entry.id) == index) }
    }

    @Test("single edits all over a long list leave it in few pieces, in which each entry is found")
    func manyEdits() {
        var random = SeededRandom(seed: 1)
        var list = Self.entries(1...20_000)
        for number in Int64(20_001)...30_000 {
            list.remove(at: Int.random(in: 0..<list.count, using: &random))
            list.insert(Self.entries([number]), at: Int.random(in: 0...list.count, using: &random))
        }
        #expect(list.count == 20_000 && list.pieceCount < 400)
        for (index, entry) in list.enumerated() where index % 37 == 0 { #expect(list.index(of: entry.id) == index) }
    }
}
