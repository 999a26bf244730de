/// One item of a saved list.
package struct ListItem: Equatable, Sendable {
    /// Absolute uri.
    package let uri: String
    /// Title for programs that show the list without reading the file; nil: none.
    package let title: String?
    /// Seconds; nil: unknown.
    package let duration: Double?

    /// An item, by its parts.
    package init(uri: String, title: String? = nil, duration: Double? = nil) {
        self.uri = uri
        self.title = title
        self.duration = duration
    }
}

/// One step of `lists.edit`. Indices count from 0 in the list after the previous steps.
package enum ListEdit: Equatable, Sendable {
    /// Inserts items before index `at`; nil: at the end.
    case insert([ListItem], at: Int?)
    /// Removes `count` items from index `at` on.
    case remove(at: Int, count: Int)
    /// Moves `count` items from index `from` so that the first of them has index `to` afterwards.
    case move(from: Int, count: Int, to: Int)
    /// Removes all items.
    case clear

    /// Most items of a list.
    package static let maximumItems = 100_000

    /// The list after these steps. Throws `outOfRange` and `tooLong`; then none of them applies.
    package static func apply(_ edits: [ListEdit], to items: [ListItem]) throws(ListFailure) -> [ListItem] {
        var result = items
        for (number, edit) in edits.enumerated() {
            guard edit.fits(count: result.count) else { throw .outOfRange(edit: number, count: result.count) }
            edit.change(&result)
            guard result.count <= maximumItems else { throw .tooLong(limit: maximumItems) }
        }
        return result
    }

    private func fits(count: Int) -> Bool {
        switch self {
        case .insert(_, let at): at.map { (0...count).contains($0) } ?? true
        case .remove(let at, let number): at >= 0 && number >= 0 && at <= count && number <= count - at
        case .move(let from, let number, let to):
            from >= 0 && number >= 0 && from <= count && number <= count - from && to >= 0 && to <= count - number
        case .clear: true
        }
    }

    private func change(_ items: inout [ListItem]) {
        switch self {
        case .insert(let new, let at): items.insert(contentsOf: new, at: at ?? items.count)
        case .remove(let at, let count): items.removeSubrange(at..<at + count)
        case .move(let from, let count, let to):
            let moved = Array(items[from..<from + count])
            items.removeSubrange(from..<from + count)
            items.insert(contentsOf: moved, at: to)
        case .clear: items.removeAll()
        }
    }
}
