import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Rows of a query of the library, page by page. The feed requests the next page while the present one is used.
@PlayerLoop final class PageFeed {
    /// A part of the rows.
    enum Page {
        /// Rows in their order. `after`: the cursor after them; nil: no row follows.
        case rows([JSONValue], after: String?)
        /// The lines of `count` songs in their order.
        case text([UInt8], count: Int, after: String?)
        case end
        case failed(MPDFailure)
    }

    /// Called when a part is ready to take.
    var onPage: (@PlayerLoop () -> Void)?

    private let link: ClientLink
    private let method: String
    private let parameters: JSONObject
    private var pages: [Page] = []
    private let cursor: String
    private var next: JSONValue?
    /// Rows of the next request, as many as a page of the library has room for.
    private var limit: Int
    /// Maximum number of remaining rows.
    private var left: Int
    private var isAsking = false
    private var isOver = false
    /// Rows of the page that `drain` passes on.
    private var drained = RowQueue()
    private var failure: MPDFailure?

    /// Test of the rows; nil: all rows pass.
    private let test: RowTest?

    /// Requested bytes of a page.
    private static let wanted = 64 << 10
    private static let maximumLimit = 10_000
    /// Maximum number of pages that wait.
    private static let maximumPages = 2

    /// A feed that begins at once. `cursor`: the parameter with the place to go on from, `after`. `most`: rows, at most. `first`: rows of the first page.
    /// `test`: test of the rows; the others are left out.
    init(
        _ link: ClientLink, _ method: String, _ parameters: JSONObject, cursor: String = "after",
        after: JSONValue? = nil, most: Int = .max, first: Int = 100,
        test: RowTest? = nil
    ) {
        self.test = test
        self.cursor = cursor
        self.link = link
        self.method = method
        self.parameters = parameters
        next = after
        left = most
        limit = first
        ask()
    }

    /// The next part; nil: it has not arrived yet.
    func take() -> Page? {
        if !pages.isEmpty {
            let page = pages.removeFirst()
            ask()
            return page
        }
        if let failure { return .failed(failure) }
        return isOver ? .end : nil
    }

    /// Passes on all rows, and then the end: nil, or the failure. Other clients get turns in between.
    func drain(
        _ use: @escaping @PlayerLoop (JSONValue) -> Void, _ end: @escaping @PlayerLoop (MPDFailure?) -> Void
    ) {
        // The handler keeps the feed alive until its end.
        onPage = { self.drainTurn(use, end) }
        onPage?()
    }

    private func drainTurn(
        _ use: @escaping @PlayerLoop (JSONValue) -> Void, _ end: @escaping @PlayerLoop (MPDFailure?) -> Void
    ) {
        while drained.isEmpty {
            switch take() {
            case nil: return
            case .rows(let rows, _)?: drained.put(rows)
            // `drain` requests rows, never text.
            case .text?: continue
            case .end?:
                onPage = nil
                return end(nil)
            case .failed(let failure)?:
                onPage = nil
                return end(failure)
            }
        }
        drained.turn {
            use($0)
            return true
        }
        EventLoop.current.later { self.onPage?() }
    }

    private func ask() {
        guard !isAsking, !isOver, failure == nil, pages.count < Self.maximumPages else { return }
        guard left > 0 else { return isOver = true }
        isAsking = true
        var all = parameters
        all["limit"] = .integer(Int64(min(limit, left)))
        all[cursor] = next
        link.call(method, all) { [weak self] result in
            guard let self else { return }
            isAsking = false
            switch result {
            case .failure(let failure): self.failure = failure
            case .success(let reply): take(reply)
            }
            onPage?()
        }
    }

    private func take(_ reply: ServerReply) {
        if reply.file != nil { return takeText(reply) }
        let rows = reply.value["rows"]?.arrayValue ?? []
        next = reply.value["next"]
        left -= rows.count
        if !rows.isEmpty { limit = min(Self.maximumLimit, max(16, Self.wanted * rows.count / max(1, reply.bytes))) }
        guard let test, !rows.isEmpty else { return take(rows) }
        isAsking = true
        test.select(rows) { [weak self] result in
            guard let self else { return }
            isAsking = false
            switch result {
            case .failure(let failure): self.failure = failure
            case .success(let rows): take(rows)
            }
            onPage?()
        }
    }

    private func take(_ rows: [JSONValue]) {
        if !rows.isEmpty || test != nil { pages.append(.rows(rows, after: next?.stringValue)) }
        isOver = next == nil || left <= 0
        ask()
    }

    /// Takes a page that arrived as a file in memory.
    private func takeText(_ reply: ServerReply) {
        let count = Int(clamping: reply.value["count"]?.integerValue ?? 0)
        guard let bytes = reply.text, count >= 0 else {
            failure = MPDFailure(.system, "the library's answer could not be read")
            return
        }
        next = reply.value["next"]
        left -= count
        if count > 0 { pages.append(.text(bytes, count: count, after: next?.stringValue)) }
        limit = Self.maximumLimit
        isOver = next == nil || left <= 0
        ask()
    }
}

/// The test of a query's rows against its filter.
@PlayerLoop struct RowTest {
    private let run: FilterRun
    private let names: SongNames

    /// The test of a query whose songs have these names.
    init(_ run: FilterRun, _ names: SongNames) {
        self.run = run
        self.names = names
    }

    /// Calls `done` with the rows whose song matches.
    func select(
        _ rows: [JSONValue], _ done: @escaping @PlayerLoop (Result<[JSONValue], MPDFailure>) -> Void
    ) {
        let names = names
        run.select(rows, { LibrarySong($0, names) }, done)
    }
}
