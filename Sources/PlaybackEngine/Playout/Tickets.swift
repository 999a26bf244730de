/// An element of a sequence with ascending tickets.
package protocol Ticketed {
    /// Number of one play of an item.
    var ticket: Int { get }
}

extension Timeline.Segment: Ticketed {}

extension RandomAccessCollection where Element: Ticketed {
    /// Index of the first element with this ticket or a later one; `endIndex` if there is none. The tickets ascend. Takes
    /// logarithmic time.
    package func firstIndex(from ticket: Int) -> Index {
        var (low, count) = (startIndex, count)
        while count > 0 {
            let middle = index(low, offsetBy: count / 2)
            if self[middle].ticket < ticket {
                low = index(after: middle)
                count -= count / 2 + 1
            } else {
                count /= 2
            }
        }
        return low
    }

    /// Index of the element with this ticket; nil: none. The tickets ascend.
    package func index(of ticket: Int) -> Index? {
        let index = firstIndex(from: ticket)
        return index < endIndex && self[index].ticket == ticket ? index : nil
    }
}
