import ControlProtocol
import TestLibraries
import Testing
import TrackDatabase

@Suite struct FilterJSONTests {
    @Test func readsEachKind() throws {
        let text = """
            {"all": [{"artist": {"is": "Björk"}}, {"any": [{"title": {"contains": "x"}}, {"date": {"atLeast": 1990}}]},
            {"not": {"duration": {"atMost": 180.5}}}, {"added": {"after": "2026-05"}}, {"liked": {"is": true}},
            {"genre": {"missing": false}}, {"albumId": {"is": 7}}, {"folder": {"below": "Mü/x"}}]}
            """
        let filter = try TrackFilter(json: JSONReader.read(text))
        // 2026-06-01.
        let after = TimeRange(lower: 1_780_272_000, upper: nil)
        #expect(
            filter
                == .all([
                    .test(.tag(.artist), .is("Björk")),
                    .any([.test(.tag(.title), .contains("x")), .test(.tag(.date), .atLeast("1990"))]),
                    .not(.test(.number(.duration), .numberAtMost(180.5))), .test(.time(.added), .within(after)),
                    .test(.flag(.liked), .isTrue(true)), .test(.tag(.genre), .missing(false)),
                    .album(7), .test(.path(.folder), .below(Array("Mü/x".utf8))),
                ]))
    }

    @Test(arguments: [
        (#"{"artst": {"is": "x"}}"#, "no field “artst”; did you mean “artist”?"),
        (#"{"alll": []}"#, "did you mean “all”?"), (#"{"artist": {"contain": "x"}}"#, "did you mean “contains”?"),
        (#"{"artist": {"before": "x"}}"#, "“artist” has no test “before”; it has “is”"),
        (#"{"artist": {"is": true}}"#, "“is” of “artist” is text, not a boolean"),
        (#"{"duration": {"is": "x"}}"#, "“is” of “duration” is a number, not a string"),
        (#"{"added": {"before": "May"}}"#, "or a date such as 2026-05-01, or an age such as 30d"),
        (#"{"added": {"is": "30d"}}"#, "“is” of “added” is seconds since 1970 or a date such as 2026-05-01, not"),
        (#"{"added": {"after": "30 d"}}"#, "an age such as 30d"), (#"{"all": {}}"#, "an array of filters"),
        (#"{"albumId": {"is": "x"}}"#, "“albumId” is {\"is\": N}"), (#"{"albumid": {}}"#, "did you mean “albumId”?"),
        (#"{"liked": {"is": 1}}"#, "true or false, not a number"), (#"{"genre": {"missing": 1}}"#, "true or false"),
        (#"{}"#, "an object with one member"), (#"[]"#, "an object with one member"),
        (#"{"artist": "x"}"#, "with one member"),
        (#"{"artist": {"is": "x"}, "album": {"is": "y"}}"#, "an object with one member"),
        (#"{"\u001b[31m": {"is": "x"}}"#, "no field “\u{FFFD}[31m”"),
    ])
    func refusesInWords(text: String, part: String) throws {
        let json = try JSONReader.read(text)
        let error = #expect(throws: TrackDatabaseError.self) { try TrackFilter(json: json) }
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }

    @Test func boundsDepthAndSize() throws {
        let test = #"{"artist": {"is": "x"}}"#
        let deep = String(repeating: #"{"not": "#, count: 15) + test + String(repeating: "}", count: 15)
        _ = try TrackFilter(json: JSONReader.read(deep))
        let deeper = try JSONReader.read(#"{"not": \#(deep)}"#)
        #expect(throws: TrackDatabaseError.self) { try TrackFilter(json: deeper) }
        let many = Array(repeating: test, count: 200).joined(separator: ",")
        _ = try TrackFilter(json: JSONReader.read(#"{"any": [\#(many)]}"#))
        let more = try JSONReader.read(#"{"any": [\#(many), \#(test)]}"#)
        #expect(throws: TrackDatabaseError.self) { try TrackFilter(json: more) }
        // Filters without tests of fields count, too: each makes a condition.
        for part in [#"{"all": []}"#, #"{"any": []}"#, #"{"albumId": {"is": 7}}"#] {
            let parts = Array(repeating: part, count: 200)
            for joint in ["all", "any"] {
                _ = try TrackFilter(json: JSONReader.read(#"{"\#(joint)": [\#(parts.joined(separator: ","))]}"#))
                let more = try JSONReader.read(#"{"\#(joint)": [\#((parts + [part]).joined(separator: ","))]}"#)
                let error = #expect(throws: TrackDatabaseError.self) { try TrackFilter(json: more) }
                #expect(error?.message.contains("at most 200 tests") == true)
            }
        }
        let long = try JSONReader.read(#"{"artist": {"is": "\#(String(repeating: "x", count: 1025))"}}"#)
        #expect(throws: TrackDatabaseError.self) { try TrackFilter(json: long) }
    }

    @Test func sortNamesAreCheckedAndCursorsBelongToOneQuestion() throws {
        #expect(
            try TrackSort(names: ["-date", "uri"], seed: 0)
                == .keys([SortKey(.tag(.date), isFalling: true), SortKey(.uri)]))
        #expect(try TrackSort(names: ["random"], seed: 3) == .random(seed: 3))
        let error = #expect(throws: TrackDatabaseError.self) { try TrackSort(names: ["-titel"], seed: 0) }
        #expect(error == .invalid("nothing is sorted by “titel”", nearest: "title"))
        let library = try SmallLibrary(seed: 2, count: 60)
        let sort = TrackSort.keys([SortKey(.tag(.title))])
        let next = try #require(try library.reader.queryIds(TrackQuery(sort: sort, limit: 5)).next)
        let other = TrackQuery(sort: .keys([SortKey(.tag(.artist))]), limit: 5, after: next)
        #expect(throws: TrackDatabaseError.invalidCursor) { try library.reader.queryIds(other) }
        for after in ["", "zz", "00", String(next.dropLast(2)), next + "01", "é" + next] {
            #expect(throws: TrackDatabaseError.invalidCursor) {
                try library.reader.queryIds(TrackQuery(sort: sort, limit: 5, after: after))
            }
        }
    }
}
