import Testing

@testable import MPDProtocol

/// Numbers, ranges and places in arguments.
@Suite struct ArgumentTests {
    private func failure<Value>(_ body: () throws(MPDFailure) -> Value) -> String? {
        do throws(MPDFailure) { _ = try body() } catch { return error.message }
        return nil
    }

    @Test("numbers", arguments: [("0", 0), ("-5", -5), ("+7", 7), ("2147483647", 2_147_483_647)])
    func numbers(text: String, expected: Int) throws { #expect(try Argument(text).number() == expected) }

    @Test(
        "faults of numbers",
        arguments: [
            ("", "Integer expected: "), ("x", "Integer expected: x"), ("1x", "Integer expected: 1x"),
            ("-", "Integer expected: -"), ("2147483648", "Number too large: 2147483648"),
            ("99999999999999999999", "Number too large: 99999999999999999999"),
        ])
    func wrongNumbers(text: String, message: String) {
        #expect(failure { () throws(MPDFailure) in try Argument(text).number() } == message)
    }

    @Test("flags are 0 and 1") func flags() throws {
        #expect(try Argument("1").flag())
        #expect(try !Argument("0").flag())
        for text in ["2", "-1", "true", ""] {
            #expect(failure { () throws(MPDFailure) in try Argument(text).flag() } == "Boolean (0/1) expected: \(text)")
        }
    }

    @Test(
        "ranges",
        arguments: [
            ("5", 5, 6), ("0:0", 0, 0), ("2:5", 2, 5), ("2:", 2, nil), ("-1", 0, nil), ("5:5", 5, 5),
        ] as [(String, Int, Int?)])
    func ranges(text: String, lower: Int, upper: Int?) throws {
        #expect(try Argument(text).range() == MPDRange(lower, upper))
    }

    @Test(
        "faults of ranges",
        arguments: [
            ("a", "Integer or range expected: a"), ("1-2", "Integer or range expected: 1-2"),
            ("1:b", "Integer or range expected: 1:b"), ("-2", "Number is negative: -2"),
            ("-1:", "Number is negative: -1:"), ("1:-2", "Number is negative: 1:-2"),
            ("5:2", "Malformed range: 5:2"), ("9999999999", "Number too large: 9999999999"),
            (":5", "Integer or range expected: :5"),
        ])
    func wrongRanges(text: String, message: String) {
        #expect(failure { () throws(MPDFailure) in try Argument(text).range() } == message)
    }

    @Test(
        "a range is clipped at the end alone",
        arguments: [(2, 5, 3, 2..<3), (0, nil, 3, 0..<3), (3, 9, 3, 3..<3), (4, 9, 3, nil), (2, 1, 3, nil)]
            as [(Int, Int?, Int, Range<Int>?)])
    func clipping(lower: Int, upper: Int?, count: Int, expected: Range<Int>?) {
        #expect(MPDRange(lower, upper).clipped(to: count) == expected)
    }

    @Test("seconds") func seconds() throws {
        #expect(try Argument("12.5").seconds() == 12.5)
        #expect(try Argument("-3").signedSeconds() == -3)
        #expect(try Argument("+3").signedSeconds() == 3)
        for text in ["", "x", "nan", "inf", " 1"] {
            #expect(failure { () throws(MPDFailure) in try Argument(text).seconds() } == "Float expected: \(text)")
        }
        #expect(failure { () throws(MPDFailure) in try Argument("-1").seconds() } == "Negative value not allowed: -1")
    }

    @Test("places of new items are exact, or refused") func insertions() throws {
        for count in 0...5 {
            for current in [nil] + (0..<count).map(Optional.some) {
                for offset in 0...6 {
                    let absolute = try Destination(Argument("\(offset)"))
                    #expect(
                        (try? absolute.insertion(count: count, current: current)) == (offset <= count ? offset : nil))
                    let after = current.map { $0 + 1 + offset }.flatMap { $0 <= count ? $0 : nil }
                    #expect(
                        (try? Destination(Argument("+\(offset)")).insertion(count: count, current: current)) == after)
                    let before = current.map { $0 - offset }.flatMap { $0 >= 0 ? $0 : nil }
                    #expect(
                        (try? Destination(Argument("-\(offset)")).insertion(count: count, current: current)) == before)
                }
            }
        }
        #expect(
            failure { () throws(MPDFailure) in try Destination(Argument("+0")).insertion(count: 3, current: nil) }
                == "No current song")
    }

    @Test("a move relative to the current item lands beside it") func moves() throws {
        for count in 2...6 {
            for lower in 0..<count {
                for upper in lower + 1...count {
                    for current in 0..<count where !(lower..<upper).contains(current) {
                        var items = Array(0..<count)
                        let moved = Array(items[lower..<upper])
                        let index = try Destination.afterCurrent(0).move(
                            of: lower..<upper, count: count, current: current)
                        items.removeSubrange(lower..<upper)
                        items.insert(contentsOf: moved, at: index)
                        #expect(items[(items.firstIndex(of: current) ?? 0) + 1] == lower)
                    }
                    #expect(
                        failure { () throws(MPDFailure) in
                            try Destination.afterCurrent(0).move(of: lower..<upper, count: count, current: lower)
                        } == "Cannot move current song relative to itself")
                }
            }
        }
    }

    @Test("tags have MPD's names, whatever the case, and substitutes that end") func tags() {
        for tag in MPDTag.allCases {
            #expect(MPDTag(Argument(tag.rawValue.uppercased())) == tag)
            #expect(!tag.substitutes.contains(tag))
        }
        #expect(MPDTag(Argument("nope")) == nil)
        var mask = TagMask.none
        mask.enable(TagMask([.title, .artist]))
        #expect(mask.tags == [.artist, .title])
        mask.disable(TagMask([.artist]))
        #expect(mask.tags == [.title])
        #expect(TagMask.all.tags == MPDTag.allCases)
    }

    @Test("changes wait for an idle that wants them") func changes() {
        var changes = PendingChanges()
        for subsystem in [Subsystem.player, .mixer, .database, .player] { changes.note(SubsystemSet(subsystem)) }
        let wanted = SubsystemSet([Subsystem.player, .database, .options].map(SubsystemSet.init))
        #expect(changes.take(wanted).members == [.database, .player])
        #expect(changes.take(SubsystemSet(.player)) == [])
        #expect(changes.take(.all).members == [.mixer])
        #expect(SubsystemSet.all.members == Subsystem.allCases)
    }

    @Test("permissions by name") func permissions() {
        #expect(Permissions("read,add") == [.read, .add])
        #expect(Permissions("none") == [])
        #expect(Permissions("") == [])
        #expect(Permissions("read,") == nil)
        #expect(Permissions("write") == nil)
    }
}
