import ControlProtocol
import Testing

@Suite struct JSONTests {
    @Test(
        arguments: [
            ("null", JSONValue.null), (" true ", .bool(true)), ("\tfalse\r\n", .bool(false)), ("0", .integer(0)),
            ("-7", .integer(-7)), ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("-0", .number(-0.0)), ("1.50", .number(1.5)),
            ("1e2", .number(100)), ("1E-2", .number(0.01)), ("123456789.123456789", .number(123_456_789.123456789)),
            ("\"a\\u00e9\\ud83d\\ude00\\n\\/\"", .string("aé😀\n/")), ("\"é😀\"", .string("é😀")), ("[]", .array([])),
            ("[1,[2]]", [1, [2]]), ("{}", [:]), ("{\"a\":{\"b\":null}}", ["a": ["b": nil]]),
            ("{\"a\":1,\"b\":2,\"a\":3}", ["b": 2, "a": 3]), ("\"\\u0000\"", .string("\0")),
        ] as [(String, JSONValue)])
    func reads(_ text: String, _ expected: JSONValue) throws {
        #expect(try JSONReader.read(text) == expected)
    }

    @Test(arguments: [
        "", " ", "nul", "nullx", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "Infinity", "\"", "\"\\x\"",
        "\"\\u12g4\"", "\"\\u12\"", "\"a\nb\"", "[1,]", "[,1]", "[1 2]", "[", "{", "{\"a\"}", "{\"a\":}", "{a:1}",
        "{\"a\":1,}", "'a'", "[1]]", "1 2", "\u{feff}1", "//\n1", "{\"a\":1 \"b\":2}",
    ])
    func refuses(_ text: String) {
        #expect { _ = try JSONReader.read(text) } throws: {
            if case JSONError.syntax? = $0 as? JSONError { true } else { false }
        }
    }

    @Test(
        arguments: [
            [0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82],
            Array("\\ud800".utf8), Array("\\udc00".utf8), Array("\\ud800\\u0041".utf8), Array("\\n".utf8) + [0x80],
        ] as [[UInt8]])
    func refusesWhatIsNotUnicode(_ inside: [UInt8]) {
        #expect { _ = try JSONReader.read([0x22] + inside + [0x22]) } throws: {
            if case JSONError.encoding? = $0 as? JSONError { true } else { false }
        }
    }

    @Test func depthIsBounded() throws {
        let deepest = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        _ = try JSONReader.read(deepest)
        #expect(throws: JSONError.tooDeep(offset: 32)) { try JSONReader.read("[" + deepest + "]") }
        #expect(throws: JSONError.tooDeep(offset: 32)) { try JSONReader.read(String(repeating: "[", count: 200_000)) }
    }

    @Test(arguments: ["1e999", "-1e999", "[1e400]", "1" + String(repeating: "0", count: 400)])
    func numbersOutOfRange(_ text: String) {
        #expect(throws: JSONError.notFinite) { try JSONReader.read(text) }
    }

    @Test("of equal names the last one counts, however many there are") func equalNames() throws {
        for count in 1...70 {
            for different in 1...count {
                let pairs = (0..<count).map { ("a name of many bytes \($0 * 7 % different)", Int64($0)) }
                let text = "{" + pairs.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
                let object = try #require(try JSONReader.read(text).objectValue)
                let last = Dictionary(pairs, uniquingKeysWith: { $1 })
                let wanted = pairs.filter { last[$0.0] == $0.1 }.map { JSONObject.Member($0.0, .integer($0.1)) }
                #expect(object.members == wanted)
            }
        }
    }

    @Test func veryManyEqualNames() throws {
        let text = "{" + (0..<40_000).map { "\"k\($0 % 20_000)\":\($0)" }.joined(separator: ",") + "}"
        let object = try #require(try JSONReader.read(text).objectValue)
        #expect(object.members.count == 20_000)
        #expect(object["k19999"] == 39_999)
    }

    @Test(
        arguments: [
            (0, "0"), (1, "1"), (-1, "-1"), (0.1, "0.1"), (83.204512, "83.204512"), (1e-9, "0.000000001"), (1e-10, "0"),
            (0.000041, "0.000041"), (-2.5, "-2.5"), (123.4567890123, "123.456789012"), (0.9999999999, "1"),
            (1_795_168_800.123457, "1795168800.123457"), (8123.456789012, "8123.456789012"),
            (123_456_789_012_345_680, "123456789012345680"), (1e21, "1000000000000000000000"),
            (-1.5e17, "-150000000000000000"),
            (9_000_000.25, "9000000.25"), (12_345_678, "12345678"), (.infinity, "null"), (.nan, "null"), (-1e-12, "0"),
        ] as [(Double, String)])
    func decimals(_ value: Double, _ expected: String) {
        var writer = JSONWriter()
        writer.decimalSeconds(value)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
    }

    @Test func decimalsAreNeverExponents() throws {
        for exponent in -300...300 {
            let value = Double("1.2345678901234567e\(exponent)")!
            let text = JSONWriter.text(.number(value))
            #expect(!text.contains("e"))
            let read = try #require(try JSONReader.read(text).doubleValue)
            #expect(abs(read - value) <= max(0.5e-9, value * 1e-15))
            #expect((text.split(separator: ".").dropFirst().first?.count ?? 0) <= 9)
        }
    }

    @Test func escapes() {
        #expect(
            JSONWriter.text(.string("\"\\/\u{8}\t\n\u{c}\r\u{1b}[0m\0\u{7f}\u{85}\u{a0}é😀"))
                == #""\"\\/\b\t\n\f\r\u001b[0m\u0000\u007f\u0085"# + "\u{a0}é😀\"")
    }

    @Test func commas() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("a")
        writer.beginArray()
        writer.integer(-1)
        writer.bool(true)
        writer.null()
        writer.string("[")
        writer.integer(Int64.min)
        writer.raw("{}".utf8)
        writer.beginObject()
        writer.endObject()
        writer.endArray()
        writer.key(any: "b\"")
        writer.decimalSeconds(0.5)
        writer.endObject()
        writer.newline()
        writer.integer(Int.max)
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == "{\"a\":[-1,true,null,\"[\",-9223372036854775808,{},{}],\"b\\\"\":0.5}\n9223372036854775807")
    }

    @Test("each byte at each place of a string is read as if there were no groups of bytes") func everyByteOfAString() {
        for length in 1...18 {
            for place in 0..<length {
                for byte in UInt8.min...UInt8.max {
                    let before = [UInt8](repeating: UInt8(ascii: "}"), count: place)
                    let after = [UInt8](repeating: UInt8(ascii: "n"), count: length - place - 1)
                    var plain = before + [byte] + after
                    let found: Result<JSONValue, JSONError>
                    do throws(JSONError) { found = .success(try JSONReader.read([0x22] + plain + [0x22])) } catch {
                        found = .failure(error)
                    }
                    let wanted: Result<JSONValue, JSONError>
                    switch byte {
                    case ..<0x20: wanted = .failure(.syntax(offset: 1 + place))
                    case 0x22: wanted = .failure(.syntax(offset: 2 + place))
                    case 0x5c where after.isEmpty: wanted = .failure(.syntax(offset: 3 + place))
                    case 0x80...: wanted = .failure(.encoding(offset: 1))
                    default:
                        if byte == 0x5c { plain = before + [0x0a] + after.dropFirst() }
                        wanted = .success(.string(String(decoding: plain, as: UTF8.self)))
                    }
                    #expect(found == wanted, "byte \(byte) at \(place) of \(length)")
                }
            }
        }
    }

    @Test("long strings of several alphabets are read as they are") func longStrings() throws {
        for count in 0...40 {
            for character in ["a", "é", "€", "😀"] {
                let text = String(repeating: "x", count: count % 9) + String(repeating: character, count: count) + "#!"
                #expect(try JSONReader.read("\"\(text)\"") == .string(text))
            }
        }
    }

    @Test("many integers are written like each of them", arguments: [0, 1, 2, 255, 256, 257, 258, 513, 2000])
    func manyIntegers(_ count: Int) {
        let edges: [Int64] = [0, 9, 10, 99, 100, -1, -10, .max, .min, 1 << 31, 999_999, 1_000_000]
        let values = (0..<count).map { edges[$0 % edges.count] &+ Int64($0 / edges.count) }
        for isFollowing in [false, true] {
            var (one, all) = (JSONWriter(), JSONWriter())
            one.beginArray()
            all.beginArray()
            if isFollowing {
                one.integer(7)
                all.integer(7)
            }
            for value in values { one.integer(value) }
            all.integers(count) { values[$0] }
            one.endArray()
            all.endArray()
            #expect(all.bytes == one.bytes)
        }
    }
}
