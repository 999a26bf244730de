import ControlProtocol
import LinuxSystem
import NowPlaying

/// Time limit for rows in one turn of the loop. All long commands can have a turn one after the other, and other clients wait
/// meanwhile.
struct TurnTime {
    private let end = EventLoop.now.advanced(bySeconds: 0.001)

    /// True if the other rows have to wait for another turn.
    var isOver: Bool { EventLoop.now >= end }
}

/// Rows of a page, which are used in order, in as many turns of the loop as they need.
struct RowQueue {
    private var rows: ArraySlice<JSONValue> = []

    /// True if no row is left.
    var isEmpty: Bool { rows.isEmpty }

    /// Adds the rows of a page.
    mutating func put(_ page: [JSONValue]) { rows = rows.isEmpty ? page[...] : rows + page }

    /// Removes the remaining rows.
    mutating func removeAll() { rows = [] }

    /// Uses rows for one turn, until `use` returns false.
    mutating func turn(_ use: (JSONValue) -> Bool) {
        let time = TurnTime()
        while let row = rows.popFirst(), use(row), !time.isOver {}
    }
}
