/// Waiting elements of several sources. The sources take turns; every second turn belongs to the bridge's own user.
struct FairQueue<Element> {
    /// Elements of one source in their order.
    private struct Line {
        var elements: [Element] = []
        /// Number of taken elements at the front.
        var taken = 0

        var isEmpty: Bool { taken == elements.count }

        mutating func take() -> Element {
            let element = elements[taken]
            taken += 1
            if taken > 32, taken * 2 > elements.count {
                elements.removeFirst(taken)
                taken = 0
            }
            return element
        }
    }

    private var own = Line()
    private var lines: [PeerSource: Line] = [:]
    /// The sources other than the bridge's own user with waiting elements, the next one first.
    private var order: [PeerSource] = []
    private var isOwnTurn = true

    /// A queue without elements.
    init() {}

    /// True if nothing waits.
    var isEmpty: Bool { own.isEmpty && order.isEmpty }

    /// Adds an element at the end of its source's line.
    mutating func put(_ element: Element, of source: PeerSource) {
        if source.isOwn { return own.elements.append(element) }
        if lines[source] == nil { order.append(source) }
        lines[source, default: Line()].elements.append(element)
    }

    /// Takes the first element of the next source that may take a turn; nil: none may.
    mutating func take(_ mayTake: (PeerSource) -> Bool = { _ in true }) -> (source: PeerSource, element: Element)? {
        let mayOwn = !own.isEmpty && mayTake(.own)
        if mayOwn, isOwnTurn { return takeOwn() }
        guard let index = order.firstIndex(where: mayTake) else { return mayOwn ? takeOwn() : nil }
        isOwnTurn = true
        let source = order.remove(at: index)
        guard var line = lines.removeValue(forKey: source) else { return nil }
        let element = line.take()
        if !line.isEmpty {
            lines[source] = line
            order.append(source)
        }
        return (source, element)
    }

    private mutating func takeOwn() -> (source: PeerSource, element: Element) {
        isOwnTurn = false
        let element = own.take()
        if own.isEmpty { own = Line() }
        return (.own, element)
    }
}
