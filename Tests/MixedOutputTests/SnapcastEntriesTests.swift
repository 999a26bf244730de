import AudioCore
import Testing

@testable import MixedOutput

/// Entries of ours in the lists of clients of servers that hang.
@Suite struct SnapcastEntriesTests {
    private let entries = SnapcastEntries()
    private static let box = SnapcastAddress("box")!
    private static let attic = SnapcastAddress("attic")!

    /// Names that a server is asked to delete, which gives these answers; after the last one it gives that again.
    private func asked(_ name: String, at address: SnapcastAddress = box, _ answers: Bool?...) -> [String] {
        var (names, rest) = ([String](), answers[...])
        entries.delete(name, at: address) { name in
            names.append(name)
            return rest.count > 1 ? rest.removeFirst() : rest.first ?? nil
        }
        return names
    }

    @Test("an entry that a hanging server keeps is deleted by the next question to that server") func hangs() {
        #expect(asked("a", nil) == ["a"])
        // It hangs still: the first silence is enough.
        #expect(asked("b", nil) == ["a"])
        #expect(asked("c", at: Self.attic, true) == ["c"])
        #expect(asked("d", true) == ["a", "b", "d"])
        #expect(asked("e", true) == ["e"])
    }

    @Test("an entry that may still come is asked for four times, and one that a silent server has, always")
    func misses() {
        #expect(asked("a", false) == ["a"])
        #expect(asked("b", false, true) == ["a", "b"])
        #expect(asked("c", nil) == ["a"])
        #expect(asked("d", false, true) == ["a", "c", "d"])
        #expect(asked("e", false, true) == ["a", "e"])
        #expect(asked("f", true) == ["f"])
    }

    @Test("their number has a bound") func bound() {
        for number in 0..<100 { _ = asked("\(number)", nil) }
        #expect(asked("last", true).count == 17)
    }
}
