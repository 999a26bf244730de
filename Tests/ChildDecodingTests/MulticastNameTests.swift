import ChildDecoding
import Testing

/// Queries to the hosts of the local network, and accepted answers.
@Suite struct MulticastNameTests {
    private let name = MulticastName("Box.Local", number: 0x1234)
    private static let box: [UInt8] = [3] + Array("box".utf8) + [5] + Array("local".utf8) + [0]

    private static func record(_ name: [UInt8], _ type: UInt8, _ data: [UInt8], kind: UInt8 = 0x80) -> [UInt8] {
        name + [0, type, kind, 1, 0, 0, 0, 120, 0, UInt8(data.count)] + data
    }

    private static func answer(_ records: [[UInt8]], questions: [UInt8] = [], number: UInt8 = 0x12) -> [UInt8] {
        [number, 0x34, 0x84, 0, 0, questions.isEmpty ? 0 : 1, 0, UInt8(records.count), 0, 0, 0, 0] + questions
            + records.flatMap(\.self)
    }

    @Test("what is asked, and of which names")
    func questions() {
        let parts: [[UInt8]] = [
            [0x12, 0x34, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0], Self.box, [0, 1, 0, 1], Self.box, [0, 28, 0, 1],
        ]
        #expect(name?.question == parts.flatMap(\.self))
        for other in ["box", "local", "box.example", "local.example.com", "", ".", "192.168.1.1"] {
            #expect(MulticastName(other, number: 1) == nil, "\(other)")
        }
        #expect(MulticastName(String(repeating: "x", count: 64) + ".local", number: 1) == nil)
    }

    @Test("addresses of both kinds, also where names are shortened and other records are between")
    func answers() throws {
        let name = try #require(name)
        let six = [UInt8](0..<16)
        let plain = Self.answer([Self.record(Self.box, 1, [192, 168, 1, 7]), Self.record(Self.box, 28, six, kind: 0)])
        #expect(name.addresses(in: plain) == [[192, 168, 1, 7], six])
        let shortened = Self.answer(
            [
                Self.record([0xC0, 12], 16, Array("text".utf8)),
                Self.record([3] + Array("BOX".utf8) + [0xC0, 16], 1, [10, 0, 0, 1]),
                Self.record([3] + Array("bix".utf8) + [0xC0, 16], 1, [10, 0, 0, 2]),
            ], questions: Self.box + [0, 1, 0, 1])
        #expect(name.addresses(in: shortened) == [[10, 0, 0, 1]])
    }

    @Test("what is no answer, is cut or leads in circles")
    func nonsense() throws {
        let name = try #require(name)
        let record = Self.record(Self.box, 1, [192, 168, 1, 7])
        let whole = Self.answer([record])
        for count in 0..<whole.count { #expect(name.addresses(in: Array(whole[..<count])).isEmpty) }
        #expect(name.addresses(in: Self.answer([record], number: 0x13)).isEmpty)
        var question = whole
        question[2] = 0
        #expect(name.addresses(in: question).isEmpty)
        #expect(name.addresses(in: Self.answer([Self.record([0xC0, 12], 1, [1, 2, 3, 4])])).isEmpty)
        #expect(name.addresses(in: Self.answer([Self.record([0x80, 1], 1, [1, 2, 3, 4])])).isEmpty)
        #expect(name.addresses(in: Self.answer([Self.record(Self.box, 1, [1, 2, 3])])).isEmpty)
        #expect(name.addresses(in: Self.answer([Self.record(Self.box, 1, [1, 2, 3, 4], kind: 3)])).isEmpty)
    }
}
