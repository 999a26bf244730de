import TestLibraries
import Testing
import TrackDatabase

@Suite struct SlowTests {
    /// Questions that look at many rows end with the reason, and the reader answers the next one.
    @Test func endsWhatTakesTooLong() throws {
        let library = try SmallLibrary(seed: 1, count: 1500)
        let reader = try library.database.reader(timeLimit: 0)
        let sorted = TrackQuery(sort: .keys([SortKey(.number(.duration))]))
        let error = #expect(throws: TrackDatabaseError.self) { try reader.query(sorted) }
        guard case .tooSlow(seconds: 0, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("no index has this order"))
        #expect(throws: TrackDatabaseError.self) {
            try reader.values(ValuesQuery(tag: .title, filter: .test(.number(.duration), .numberAtLeast(1))))
        }
        #expect(throws: TrackDatabaseError.self) { try reader.count(.test(.codec, .contains("fl"))) }
        #expect(try reader.query(TrackQuery(limit: 1)).rows.count == 1)
        #expect(try reader.browse([], limit: 1)?.rows.count == 1)
    }
}
