/// The order of lines on one connection: command lists, and waiting for changes. It decides on the consequence of each
/// line; the caller carries the consequences out in order.
package struct Conversation: Sendable {
    /// Lines to carry out in order.
    package struct Work: Equatable, Sendable {
        /// Extent of the answer.
        package enum Kind: Equatable, Sendable {
            /// One line, closed by `OK`.
            case single
            /// Several lines, closed by one `OK`.
            case list
            /// Several lines, each closed by `list_OK`, and `OK` at the end.
            case listWithOKs
        }

        package let lines: LineList
        package let kind: Kind

        /// Work, by its parts.
        package init(_ lines: LineList, _ kind: Kind) {
            self.lines = lines
            self.kind = kind
        }
    }

    /// Consequence of a line.
    package enum Step: Equatable, Sendable {
        /// No step yet, and no answer.
        case nothing
        /// The connection ends without an answer.
        case close
        /// The command list is too long: the connection ends after this answer.
        case refuse(MPDFailure)
        /// The client stops waiting for changes: `OK`.
        case endIdle
        case run(Work)
    }

    private enum State: Sendable {
        case ready
        case collecting(LineList, Work.Kind)
        case idle
    }

    private var state = State.ready

    /// A conversation before its first line.
    package init() {}

    /// True while the client waits for changes.
    package var isIdle: Bool {
        switch state {
        case .idle: true
        case .ready, .collecting: false
        }
    }

    /// Bytes of memory of the lines that wait for the end of their list.
    package var cost: Int {
        switch state {
        case .collecting(let lines, _): lines.cost
        case .idle, .ready: 0
        }
    }

    /// Starts waiting for changes: the `idle` was carried out without a change to report.
    package mutating func beginIdle() { state = .idle }

    /// Stops waiting: changes were sent to the client.
    package mutating func endIdle() { state = .ready }

    /// Takes the next line without its line end. The work of the previous line must be done. `limits`: the present ones.
    package mutating func take(_ received: [UInt8], _ limits: LineLimits = .known) -> Step {
        let line = Self.trimmed(received)
        // A line of another protocol, such as HTTP.
        guard let first = line.first, ASCII.isSmallLetter(first) else { return .close }
        switch state {
        case .idle:
            guard line == Self.noidle else { return .close }
            state = .ready
            return .endIdle
        case .collecting(var lines, let kind):
            if line == Self.idle || line == Self.noidle { return .close }
            // The state must not share the lines: otherwise each line would copy all of them.
            state = .ready
            if line == Self.listEnd { return .run(Work(lines, kind)) }
            guard lines.count < limits.listLines, lines.endIndex + line.count < limits.list else {
                return .refuse(Self.tooLong)
            }
            lines.append(line)
            state = .collecting(lines, kind)
            return .nothing
        case .ready:
            // A client to which changes were sent at the same moment has its answer already.
            if line == Self.noidle { return .nothing }
            if line == Self.listBegin {
                state = .collecting(LineList(), .list)
                return .nothing
            }
            if line == Self.listWithOKsBegin {
                state = .collecting(LineList(), .listWithOKs)
                return .nothing
            }
            return .run(Work(LineList(CollectionOfOne(line)), .single))
        }
    }

    /// The failure of a command list beyond its limits.
    package static let tooLong = MPDFailure(.unknown, "the command list is too long: send shorter ones")

    private static let idle = Array("idle".utf8)
    private static let noidle = Array("noidle".utf8)
    private static let listBegin = Array("command_list_begin".utf8)
    private static let listWithOKsBegin = Array("command_list_ok_begin".utf8)
    private static let listEnd = Array("command_list_end".utf8)

    /// The line up to a NUL byte and without white space at its end.
    private static func trimmed(_ line: [UInt8]) -> [UInt8] {
        let text = line.prefix { $0 != 0 }
        return Array(text.prefix(text.lastIndex { !ASCII.isSpace($0) }.map { $0 + 1 } ?? 0))
    }
}
