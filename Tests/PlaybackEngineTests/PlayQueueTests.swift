import AudioCore
import LinuxSystem
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

@Suite struct PlayQueueTests {
    /// Compares the queue with a plain array of numbers.
    @Test(arguments: 0..<200) func agreesWithAnArray(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = PlayQueue()
        var model: [Int64] = []
        var next: Int64 = 1
        for _ in 0..<80 {
            let version = queue.version
            let before = model
            switch Int.random(in: 0..<7, using: &random) {
            case 0...2:
                let count = Int64.random(in: 0...4, using: &random)
                let numbers = Array(next..<next + count)
                next += count
                let index = Int.random(in: 0...model.count, using: &random)
                queue.insert(numbers.map { QueueEntry(id: ItemID($0), source: .file("/\($0)")) }, at: index)
                model.insert(contentsOf: numbers, at: index)
            case 3:
                let gone = Set(model.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)))
                queue.remove(Set(gone.map { ItemID($0) }))
                model.removeAll { gone.contains($0) }
            case 4:
                let moved = Array(model.shuffled(using: &random).prefix(2))
                let index = Int.random(in: 0...12, using: &random)
                let named = moved + moved.shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random))
                queue.move(named.map { ItemID($0) }, to: index)
                model.removeAll { moved.contains($0) }
                model.insert(contentsOf: moved, at: min(index, model.count))
            case 5:
                guard let number = model.randomElement(using: &random) else { break }
                var given = MediaMetadata()
                given.artists = Array(repeating: "x", count: Int.random(in: 0...9, using: &random))
                queue.setDetails(ItemDetails(given: given), of: ItemID(number))
            default:
                let first = model.randomElement(using: &random)
                queue.shuffle(keepingFirst: first.map { ItemID($0) }, using: &random)
                #expect(queue.entries.first?.id.number == first ?? queue.entries.first?.id.number)
                #expect(Set(queue.entries.map(\.id.number)) == Set(model))
                model = queue.entries.map(\.id.number)
            }
            #expect(queue.entries.map(\.id.number) == model)
            let bytes = queue.entries.map { entry in
                (entry.details?.given.artists.count ?? 0) + (entry.source.path?.bytes.count ?? 0)
            }
            #expect(queue.textBytes == bytes.reduce(0, +))
            if model != before { #expect(queue.version > version) }
            for (index, number) in model.enumerated() { #expect(queue.index(of: ItemID(number)) == index) }
            #expect(queue.index(of: ItemID(next)) == nil)
        }
    }
}

@Suite struct MediaSourceTests {
    @Test(
        arguments: [
            ("/music/a b.flac", "file:///music/a%20b.flac", "a b"),
            ("/ü/100%.wav", "file:///%C3%BC/100%25.wav", "100%"),
            ("/m/.hidden", "file:///m/.hidden", ".hidden"),
            ("/m/x.tar.gz", "file:///m/x.tar.gz", "x.tar"), ("/", "file:///", ""),
        ])
    func addressesAndNames(path: String, uri: String, name: String) {
        #expect(MediaSource.file("\(path)").uri == uri)
        #expect(MediaSource.file("\(path)").displayName == name)
    }

    @Test func namesNeedNotBeText() throws {
        let path = try #require(FilePath([0x2F, 0xFF, 0x2F, 0x61, 0xE9, 0x2E, 0x78]))
        #expect(MediaSource.file(path).uri == "file:///%FF/a%E9.x")
        #expect(MediaSource.file(path).displayName == "aé")
        #expect(MediaSource.file(path).nameBytes == 7)
        let file = ConfinedPath(root: "/m", relative: try #require(FilePath([0xE9, 0x81])))
        #expect(MediaSource.confined(file).uri == "file:///m/%E9%81")
        #expect(MediaSource.confined(file).displayName == "é\u{FFFD}")
    }
}
