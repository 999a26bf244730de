import LibraryRuntime
import TestSupport
import Testing

/// Edits of saved lists, against plain arrays.
@Suite struct ListEditTests {
    private static func items(_ names: String) -> [ListItem] { names.map { ListItem(uri: "file:///\($0)") } }

    private static func names(_ items: [ListItem]) -> String { String(items.compactMap(\.uri.last)) }

    @Test(arguments: [
        (ListEdit.insert(items("xy"), at: nil), "abcdexy"), (.insert(items("xy"), at: 0), "xyabcde"),
        (.insert(items("x"), at: 5), "abcdex"), (.remove(at: 1, count: 2), "ade"), (.remove(at: 5, count: 0), "abcde"),
        (.move(from: 0, count: 2, to: 3), "cdeab"), (.move(from: 3, count: 2, to: 0), "deabc"),
        (.move(from: 1, count: 1, to: 1), "abcde"), (.clear, ""),
    ])
    func oneStep(_ edit: ListEdit, _ result: String) throws {
        #expect(Self.names(try ListEdit.apply([edit], to: Self.items("abcde"))) == result)
    }

    @Test(arguments: [
        ListEdit.insert(items("x"), at: 6), .insert([], at: -1), .remove(at: 5, count: 1), .remove(at: -1, count: 1),
        .remove(at: 0, count: -1), .remove(at: 1, count: .max), .move(from: 0, count: 6, to: 0),
        .move(from: 4, count: 1, to: 5), .move(from: 0, count: 1, to: -1), .move(from: .max, count: .max, to: .max),
    ])
    func aStepOutsideOfTheListRefusesAll(_ edit: ListEdit) {
        #expect(throws: ListFailure.outOfRange(edit: 1, count: 5)) {
            try ListEdit.apply([.move(from: 0, count: 1, to: 4), edit], to: Self.items("abcde"))
        }
    }

    @Test func aListIsBounded() throws {
        let many = Array(repeating: ListItem(uri: "file:///x"), count: ListEdit.maximumItems)
        #expect(try ListEdit.apply([.clear, .insert(many, at: 0)], to: many).count == many.count)
        #expect(throws: ListFailure.tooLong(limit: ListEdit.maximumItems)) {
            try ListEdit.apply([.insert(Self.items("x"), at: nil)], to: many)
        }
    }

    @Test(arguments: 0..<300 as Range<UInt64>) func anySteps(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var model = Array("abcdefghij".prefix(Int.random(in: 0...10, using: &random)))
        let start = Self.items(String(model))
        var edits: [ListEdit] = []
        for number in 0..<20 {
            let at = Int.random(in: 0...model.count, using: &random)
            let count = Int.random(in: 0...model.count - at, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3:
                let new = String(UnicodeScalar(UInt8(ascii: "A") + UInt8(number)))
                edits.append(.insert(Self.items(new), at: at))
                model.insert(contentsOf: new, at: at)
            case 3..<5:
                edits.append(.remove(at: at, count: min(2, count)))
                model.removeSubrange(at..<at + min(2, count))
            case 5..<7:
                let to = Int.random(in: 0...model.count - count, using: &random)
                edits.append(.move(from: at, count: count, to: to))
                let rest = model[..<at] + model[(at + count)...]
                model = Array(rest.prefix(to) + model[at..<at + count] + rest.dropFirst(to))
            default:
                edits.append(.clear)
                model = []
            }
        }
        #expect(Self.names(try ListEdit.apply(edits, to: start)) == String(model))
    }
}
