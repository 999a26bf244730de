/// A part of a sequence whose tickets ascend.
package protocol Ticketed {
    /// Number of one time that an item plays.
    var ticket: Int { get }
}

extension Timeline.Segment: Ticketed {}

extension RandomAccessCollection where Element: Ticketed {
    /// The index of the first element with this ticket or a later one; `endIndex` where there is none. The tickets ascend. Looks
    /// at no more elements than the logarithm of their count.
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

    /// The index of the element with this ticket; nil: there is none. The tickets ascend.
    package func index(of ticket: Int) -> Index? {
        let place = firstIndex(from: ticket)
        return place < endIndex && self[place].ticket == ticket ? place : nil
    }
}
