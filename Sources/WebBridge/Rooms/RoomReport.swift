import ControlProtocol
import SnapcastControl
import WebProtocol

/// The rooms as callers get them, encoded once for all of them.
struct RoomReport {
    private struct Row: Equatable {
        let id: String
        /// JSON.
        let bytes: [UInt8]
    }

    private let problem: String?
    private let rows: [Row]
    /// The result of `rooms.list`, as JSON.
    let whole: [UInt8]

    /// Most bytes of all rooms together. Rooms that do not fit are left out.
    static let maximumBytes = 256 << 10

    /// A report of rooms.
    init(_ rooms: [Room]) {
        var rows: [Row] = []
        var bytes = 0
        for room in rooms {
            var writer = JSONWriter()
            writer.value(.object(room.json))
            bytes += writer.bytes.count + 1
            guard bytes <= Self.maximumBytes else { break }
            rows.append(Row(id: room.id, bytes: writer.bytes))
        }
        self.init(rows, problem: nil)
    }

    /// A report of a server that does not answer. `problem`: the word on the wire.
    init(problem: String) { self.init([], problem: problem) }

    private init(_ rows: [Row], problem: String?) {
        self.rows = rows
        self.problem = problem
        whole = Self.object(problem, rows, isWhole: false, removed: [])
    }

    /// The notification for callers who have an earlier report; nil: nothing has changed. It has the rooms that have changed and the
    /// ids of those that are gone, or all rooms if the callers have none.
    func notification(since old: RoomReport?) -> [UInt8]? {
        guard let old, old.problem == nil, problem == nil else {
            return old?.problem != nil && old?.problem == problem ? nil : complete
        }
        let known = Dictionary(old.rows.map { ($0.id, $0.bytes) }) { first, _ in first }
        let ids = Set(rows.map(\.id))
        let changed = rows.filter { known[$0.id] != $0.bytes }
        let removed = old.rows.map(\.id).filter { !ids.contains($0) }
        guard !changed.isEmpty || !removed.isEmpty else { return nil }
        return Self.notification(Self.object(nil, changed, isWhole: false, removed: removed))
    }

    /// The notification with all rooms.
    var complete: [UInt8] { Self.notification(Self.object(problem, rows, isWhole: true, removed: [])) }

    private static func notification(_ parameters: [UInt8]) -> [UInt8] {
        var writer = JSONWriter()
        writer.notification(RoomMethods.changed, parameters: parameters)
        return writer.bytes
    }

    private static func object(_ problem: String?, _ rows: [Row], isWhole: Bool, removed: [String]) -> [UInt8] {
        var head = JSONObject([.init("available", .bool(problem == nil))])
        if let problem { head["problem"] = .string(problem) }
        if isWhole { head["whole"] = true }
        if !removed.isEmpty { head["removed"] = .array(removed.map { .string($0) }) }
        var writer = JSONWriter()
        writer.value(.object(head))
        // The rows follow the other members.
        return Array(writer.bytes.dropLast()) + Array(#","rooms":["#.utf8)
            + rows.map(\.bytes).joined(separator: [UInt8(ascii: ",")]) + Array("]}".utf8)
    }
}
