/// A target index in the queue, in the form of a request.
package enum Destination: Equatable, Sendable {
    /// Counted from 0.
    case index(Int)
    /// Number of items between the current item and the target.
    case afterCurrent(Int)
    /// Number of items between the target and the current item.
    case beforeCurrent(Int)

    /// Reads `7`, `+0` or `-1`.
    package init(_ argument: Argument) throws(MPDFailure) {
        let rest = Argument(Array(argument.bytes.dropFirst()))
        switch argument.bytes.first {
        case UInt8(ascii: "+"): self = .afterCurrent(try rest.count())
        case UInt8(ascii: "-"): self = .beforeCurrent(try rest.count())
        case _: self = .index(try argument.count())
        }
    }

    /// The index for new items in a queue of `count` items.
    package func insertion(count: Int, current: Int?) throws(MPDFailure) -> Int {
        try resolved(count: count, current: current)
    }

    /// The index of the first moved item after the move. The count leaves out the moved items.
    package func move(of range: Range<Int>, count: Int, current: Int?) throws(MPDFailure) -> Int {
        var current = current
        switch self {
        case .index: break
        case .afterCurrent, .beforeCurrent:
            if let index = current {
                guard !range.contains(index) else {
                    throw MPDFailure(.argument, "Cannot move current song relative to itself")
                }
                if index >= range.upperBound { current = index - range.count }
            }
        }
        return try resolved(count: count - range.count, current: current)
    }

    private func resolved(count: Int, current: Int?) throws(MPDFailure) -> Int {
        switch self {
        case .index(let index):
            guard index <= count else { throw MPDFailure(.argument, "Number too large: \(index)") }
            return index
        case .afterCurrent(let offset):
            let index = try Self.required(current) + 1
            guard offset <= count - index else { throw MPDFailure(.argument, "Number too large: \(offset)") }
            return index + offset
        case .beforeCurrent(let offset):
            let index = try Self.required(current)
            guard offset <= index else { throw MPDFailure(.argument, "Number too large: \(offset)") }
            return index - offset
        }
    }

    private static func required(_ current: Int?) throws(MPDFailure) -> Int {
        guard let current else { throw MPDFailure(.playerSync, "No current song") }
        return current
    }
}
