import ControlProtocol
import Foundation
import TestSupport
import Testing

/// Our reader and writer against Foundation's, over generated and damaged texts.
@Suite struct JSONFuzzTests {
    /// Result of Foundation's decoder for a text, as our value.
    private struct Reference: Decodable {
        let value: JSONValue
        struct Name: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        init(from decoder: any Decoder) throws {
            if let object = try? decoder.container(keyedBy: Name.self) {
                let members = try object.allKeys.map {
                    JSONObject.Member($0.stringValue, try object.decode(Reference.self, forKey: $0).value)
                }
                value = .object(JSONObject(members))
            } else if var array = try? decoder.unkeyedContainer() {
                var elements: [JSONValue] = []
                while !array.isAtEnd { elements.append(try array.decode(Reference.self).value) }
                value = .array(elements)
            } else {
                let single = try decoder.singleValueContainer()
                if single.decodeNil() {
                    value = .null
                } else if let bool = try? single.decode(Bool.self) {
                    value = .bool(bool)
                } else if let text = try? single.decode(String.self) {
                    value = .string(text)
                } else {
                    value = .number(try single.decode(Double.self))
                }
            }
        }
    }

    /// The value with all numbers as doubles and all members in the order of their names.
    private static func plain(_ value: JSONValue) -> JSONValue {
        switch value {
        case .integer(let number): .number(Double(number))
        case .array(let elements): .array(elements.map(plain))
        case .object(let object):
            .object(
                JSONObject(
                    object.members.sorted { Array($0.name.utf8).lexicographicallyPrecedes($1.name.utf8) }
                        .map { JSONObject.Member($0.name, plain($0.value)) }))
        default: value
        }
    }

    private static func random(_ generator: inout SeededRandom, depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth < 5 ? 9 : 6), using: &generator) {
        case 0: .null
        case 1: .bool(Bool.random(using: &generator))
        case 2: .integer(Int64.random(in: -1 << 53...1 << 53, using: &generator))
        case 3: .number((Double.random(in: -1e6...1e6, using: &generator) * 1e6).rounded() / 1e6)
        case 4, 5: .string(randomText(&generator))
        case 6, 7:
            .object(
                JSONObject(
                    (0..<Int.random(in: 0...12, using: &generator)).map {
                        JSONObject.Member("\($0)" + randomText(&generator), random(&generator, depth: depth + 1))
                    }))
        default:
            .array((0..<Int.random(in: 0...6, using: &generator)).map { _ in random(&generator, depth: depth + 1) })
        }
    }

    private static func randomText(_ generator: inout SeededRandom) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...20, using: &generator) {
            let bound: UInt32 = [0x80, 0x800, 0x3000, 0x10_ffff].randomElement(using: &generator)!
            if let scalar = Unicode.Scalar(UInt32.random(in: 0..<bound, using: &generator)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func reference(_ bytes: [UInt8]) -> JSONValue? {
        (try? JSONDecoder().decode(Reference.self, from: Data(bytes))).map { plain($0.value) }
    }

    @Test func whatIsWrittenIsReadBackByBoth() throws {
        var generator = SeededRandom(seed: 1)
        for _ in 0..<1500 {
            let value = Self.random(&generator, depth: 0)
            var writer = JSONWriter()
            writer.value(value)
            let ours = Self.plain(try JSONReader.read(writer.bytes))
            #expect(ours == Self.plain(value))
            #expect(Self.reference(writer.bytes) == ours)
        }
    }

    @Test func damagedTextsAreJudgedAlike() throws {
        var generator = SeededRandom(seed: 2)
        let spices = Array("{}[]\",:\\ue+-.0123456789tfn \n\u{e9}".utf8) + [0x80, 0xc2, 0xed, 0xff, 0x00, 0x1f, 0x7f]
        var accepted = 0
        for _ in 0..<6000 {
            var writer = JSONWriter()
            writer.value(Self.random(&generator, depth: 3))
            var bytes = writer.bytes
            for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes.remove(at: place)
                case 1: bytes.insert(spices.randomElement(using: &generator)!, at: place)
                default: bytes[place] = spices.randomElement(using: &generator)!
                }
            }
            let ours = (try? JSONReader.read(bytes)).map(Self.plain)
            if ours != nil { accepted += 1 }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(ours == Self.reference(bytes), "\(text.debugDescription)")
        }
        // Both kinds must occur, or this compares nothing.
        #expect(accepted > 500 && accepted < 5500)
    }
}
