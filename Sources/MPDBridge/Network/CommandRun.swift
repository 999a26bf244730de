import MPDProtocol

/// Lines of a client that are carried out: one after the other, or several as one change.
struct CommandRun {
    /// Extent of the answer.
    let kind: Conversation.Work.Kind
    /// Index of the next line.
    private(set) var index = 0
    private let lines: [[UInt8]]
    /// Requests that are carried out together, at most.
    private var most = 8192
    /// True if the next request is carried out alone.
    private var isAlone = false

    /// The lines of a client, none of them carried out.
    init(_ work: Conversation.Work) {
        kind = work.kind
        lines = work.lines
    }

    /// The next line; nil: all are carried out.
    var line: [UInt8]? { index < lines.count ? lines[index] : nil }

    /// The request of the next line and those that may be carried out together with it. `read` reads a line; nil: it is no
    /// request.
    func together(_ first: MPDRequest, _ read: ([UInt8]) -> MPDRequest?) -> [MPDRequest] {
        var result = [first]
        guard !isAlone, lines.count > index + 1 else { return result }
        for line in lines[(index + 1)...] {
            guard result.count < most, let next = read(line), next.joins(result[result.count - 1]) else { break }
            result.append(next)
        }
        return result
    }

    /// The next line was carried out.
    mutating func pass() {
        index += 1
        isAlone = false
    }

    /// The next line is carried out alone.
    mutating func separate() { isAlone = true }

    /// So many requests could not be carried out together: tries fewer from now on, which leads to the one at fault.
    mutating func divide(_ count: Int) { most = max(1, count / 2) }
}
