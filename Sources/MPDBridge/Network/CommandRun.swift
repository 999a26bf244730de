import MPDProtocol

/// Lines of a client, which run one after the other, or several as one change.
struct CommandRun {
    /// Extent of the answer.
    let kind: Conversation.Work.Kind
    /// Index of the next line.
    private(set) var index = 0
    private let lines: LineList
    /// The next line in the list.
    private var place: LineList.Index
    /// Maximum number of requests that run together.
    private var most: Int
    /// True if the next request runs alone.
    private var isAlone = false

    /// The lines of a client, of which none has run. `most`: maximum number of requests that run together.
    init(_ work: Conversation.Work, together most: Int) {
        kind = work.kind
        lines = work.lines
        place = work.lines.startIndex
        self.most = most
    }

    /// The next line; nil: all have run.
    var line: [UInt8]? { place < lines.endIndex ? lines[place] : nil }

    /// The request of the next line, and the following requests that may run together with it. `read` reads a line; nil: the
    /// line is not a request.
    func together(_ first: MPDRequest, _ read: ([UInt8]) -> MPDRequest?) -> [MPDRequest] {
        var result = [first]
        guard !isAlone, place < lines.endIndex else { return result }
        for line in lines[lines.index(after: place)...] {
            guard result.count < most, let next = read(line), next.joins(result[result.count - 1]) else { break }
            result.append(next)
        }
        return result
    }

    /// Moves on after the next line has run.
    mutating func pass() {
        index += 1
        place = lines.index(after: place)
        isAlone = false
    }

    /// Makes the next line run alone.
    mutating func separate() { isAlone = true }

    /// Halves the number of requests that run together, after this many failed together. This finds the faulty request.
    mutating func divide(_ count: Int) { most = max(1, count / 2) }
}
