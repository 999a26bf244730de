import ControlProtocol
import NowPlaying
import TestSupport
import Testing

@testable import MPDBridge

/// The copy of the queue, and the changes that clients ask for.
@Suite struct ShadowQueueTests {
    private static func ids(_ ids: some Sequence<Int32>) -> JSONValue { .array(ids.map { .integer(Int64($0)) }) }

    /// An edit of a queue, as the daemon words it, and the queue after it.
    private static func edit(_ queue: inout [Int32], _ random: inout SeededRandom, _ next: inout Int32) -> JSONValue {
        let chosen = queue.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where queue.count > 12:
            queue = []
            return ["clear": [:]]
        case 1 where !chosen.isEmpty:
            queue.removeAll { chosen.contains($0) }
            return ["remove": ["ids": ids(chosen)]]
        case 2 where !chosen.isEmpty:
            queue.removeAll { chosen.contains($0) }
            let index = Int.random(in: 0...queue.count, using: &random)
            queue.insert(contentsOf: chosen, at: index)
            return ["move": ["ids": ids(chosen), "to": .integer(Int64(index))]]
        case 3 where !chosen.isEmpty: return ["update": ["ids": ids(chosen)]]
        case _:
            let index = Int.random(in: 0...queue.count, using: &random)
            let new = (0..<Int32.random(in: 1...3, using: &random)).map { next + $0 }
            next += Int32(new.count)
            queue.insert(contentsOf: new, at: index)
            return ["insert": ["ids": ids(new), "at": .integer(Int64(index))]]
        }
    }

    @Test("a client that follows changes has the queue, whatever revision it holds") func histories() {
        for seed in 1...300 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            var model: [Int32] = []
            var next: Int32 = 1
            var shadow = ShadowQueue(ids: [], revision: 1)
            var history: [(revision: Int64, ids: [Int32])] = [(1, [])]
            for revision in 2...40 as ClosedRange<Int64> {
                let edit = Self.edit(&model, &random, &next)
                let isUnderstood = shadow.apply([edit], to: revision)
                #expect(isUnderstood)
                #expect(shadow.ids == model)
                history.append((revision, model))
            }
            for (revision, old) in history {
                guard let changed = shadow.changed(since: revision) else {
                    Issue.record("revision \(revision) is forgotten")
                    continue
                }
                // A client overwrites the reported indexes, and cuts its copy at the present length.
                var copy = Array(old.prefix(model.count)) + Array(repeating: 0, count: max(0, model.count - old.count))
                for index in changed { copy[index] = model[index] }
                #expect(copy == model, "seed \(seed), revision \(revision)")
                #expect(changed == changed.sorted())
            }
        }
    }

    @Test("revisions before the copy and after it are not known") func unknown() {
        let shadow = ShadowQueue(ids: [1, 2], revision: 7)
        #expect(shadow.changed(since: 7) == [])
        #expect(shadow.changed(since: 6) == nil)
        #expect(shadow.changed(since: 8) == nil)
    }

    @Test("old changes are forgotten, newer ones are not") func memory() {
        var shadow = ShadowQueue(ids: [1, 2, 3], revision: 0)
        for revision in 1...10_000 as ClosedRange<Int64> {
            _ = shadow.apply([["update": ["ids": [2]]]], to: revision)
        }
        #expect(shadow.changed(since: 9_990) == [1])
        #expect(shadow.changed(since: 0) == nil)
    }

    @Test(
        "an edit that is not understood is refused",
        arguments: [["order": [:]], [:], ["new": ["ids": [1]]], 5] as [JSONValue])
    func strange(edit: JSONValue) {
        var shadow = ShadowQueue(ids: [1, 2], revision: 1)
        let isUnderstood = shadow.apply([edit], to: 2)
        #expect(!isUnderstood)
    }

    @Test("versions are from 1 to 2^31 − 1, around and around") func versions() {
        for (revision, version) in [(0, 1), (1, 1), (5, 5), (2_147_483_647, 2_147_483_647), (2_147_483_648, 1)] {
            #expect(ShadowQueue.clientVersion(Int64(revision)) == Int64(version))
        }
    }
}
