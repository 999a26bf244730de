import CLinux
import Glibc
import LinuxSystem
package import NowPlaying
import Synchronization

/// Resume positions of items that have a bookmark or were left in the middle. A small file of the state directory has
/// one line each with the kind, the identity and the seconds, the newest at the end. It is separate from the database,
/// so that the decode thread never waits for the database before an item begins. Any thread; the first use reads the
/// file, `save` writes it.
package final class ResumePositions: Sendable {
    /// Reason for the resume position.
    package enum Kind: String { case bookmark, left }

    /// Resume position of an item.
    package struct Position: Equatable {
        var kind: Kind
        /// Seconds from the start of the item.
        package var seconds: Double

        init(kind: Kind, seconds: Double) {
            self.kind = kind
            self.seconds = seconds
        }

        /// Nil: the item begins at its start.
        package init?(_ feedback: Feedback) {
            guard let seconds = feedback.resumePosition else { return nil }
            self.init(kind: feedback.bookmark != nil ? .bookmark : .left, seconds: seconds)
        }
    }

    private struct State {
        /// Nil: not read yet.
        var positions: [String: Position]?
        /// Identities, in the order of their changes.
        var order: [String] = []
        /// Number of changes so far.
        var version = 0
    }

    private let path: String
    private let state = Mutex(State())
    /// Positions that are about to change, by the uris of their items.
    private let foreseen = Mutex<[String: Position?]>([:])
    /// The last written version. Its lock is held during a write, so that an older version never follows a newer one.
    private let written = Mutex(0)

    /// Maximum number of items with a resume position; beyond it the oldest are dropped.
    static let limit = 4096
    private static let longestFile = 1 << 20

    /// Resume positions of a state directory; the file is not read yet.
    init(stateDirectory: String) { path = stateDirectory + "/resume-places" }

    /// Announces a resume position, or (nil) its removal, for the item at a uri, until `settled`. Never blocks.
    package func foresee(_ position: Position?, at uri: String) { foreseen.withLock { $0[uri] = .some(position) } }

    /// Ends an announced change, which is done or cancelled.
    package func settled(_ uri: String) { foreseen.withLock { $0[uri] = nil } }

    /// Resume position of the item at this uri. It calls `identity` only if there is any saved position.
    package func position(at uri: String, _ identity: () -> String?) -> Position? {
        if let position = foreseen.withLock({ $0[uri] }) { return position }
        let isEmpty = state.withLock { state in
            load(&state)
            return state.order.isEmpty
        }
        guard !isEmpty, let identity = identity() else { return nil }
        return state.withLock { $0.positions?[identity] }
    }

    /// Sets or (nil) drops the resume position of an item; `save` writes it. False: it did not change.
    func set(_ position: Position?, of identity: String) -> Bool {
        state.withLock { state in
            load(&state)
            guard state.positions?[identity] != position else { return false }
            state.order.removeAll { $0 == identity }
            state.positions?[identity] = position
            if position != nil { state.order.append(identity) }
            while state.order.count > Self.limit { state.positions?[state.order.removeFirst()] = nil }
            state.version += 1
            return true
        }
    }

    /// Writes all changes, unless they are written already. Blocks; several waiting threads share one write.
    package func save() {
        written.withLock { last in
            let (version, text) = state.withLock { ($0.version, $0.version > last ? Self.text($0) : "") }
            guard version > last else { return }
            last = version
            save(text)
        }
    }

    private static func text(_ state: State) -> String {
        state.order.compactMap { identity in
            state.positions?[identity].map { "\($0.kind.rawValue) \(identity) \($0.seconds)\n" }
        }.joined()
    }

    private func load(_ state: inout State) {
        guard state.positions == nil else { return }
        var positions: [String: Position] = [:]
        for line in contents().split(separator: "\n").suffix(Self.limit) {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let kind = Kind(rawValue: words[0]), let seconds = Self.seconds(Double(words[2])),
                seconds > 0, positions[words[1]] == nil
            else { continue }
            positions[words[1]] = Position(kind: kind, seconds: seconds)
            state.order.append(words[1])
        }
        state.positions = positions
    }

    /// A plausible position; values from a damaged disk are dropped.
    static func seconds(_ position: Double?) -> Double? {
        position.flatMap { $0 >= 0 ? TimeLimit.bounded($0) : nil }
    }

    private func contents() -> String {
        let file = linux_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.longestFile else {
            return ""
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Replaces the whole file. It reports no failure: the database in the same folder reports a failing disk.
    private func save(_ text: String) {
        let temporary = path + ".new"
        let file = FreshFile.make(temporary)
        guard file >= 0 else { return }
        let bytes = Array(text.utf8)
        let isWritten = write(file, bytes, bytes.count) == bytes.count && fdatasync(file) == 0
        close(file)
        if isWritten { rename(temporary, path) } else { unlink(temporary) }
    }
}
