import AudioCore
import ControlProtocol
import LinuxSystem
import MediaAccess
import NowPlaying

/// Reads the queue of a session from the daemon, page by page, at one version.
@PlayerLoop final class SessionReader {
    private let session: String
    private let sight: CallerSight
    private var items: [ListItem] = []
    private var leftOut = 0
    /// Version of the queue of the pages; nil: none was read yet.
    private var version: Int64?
    private var attempts = 0

    /// Restarts because the queue has changed, at most.
    private static let mostAttempts = 5

    /// A reader of this session for a caller with this sight.
    init(_ session: String, _ sight: CallerSight) {
        self.session = session
        self.sight = sight
    }

    /// Reads all pages and ends the work. `done` gets the items, and the number of items that a list cannot hold.
    func begin(
        _ work: DaemonCaller.Work, _ done: @escaping @PlayerLoop (_ items: [ListItem], _ leftOut: Int) -> Void
    ) {
        ask(work, offset: 0, done)
    }

    private func ask(
        _ work: DaemonCaller.Work, offset: Int64, _ done: @escaping @PlayerLoop ([ListItem], Int) -> Void
    ) {
        var parameters = JSONObject([
            .init("session", .string(session)), .init("offset", .integer(offset)), .init("limit", 10_000),
            .init("fields", ["uri", "title", "artist", "duration"]),
        ])
        parameters["ifVersion"] = version.map { .integer($0) }
        work.channel.call("queue.list", parameters) { [self, weak work] reply in
            guard let work else { return }
            switch reply {
            case .lost: work.end(DaemonCaller.lost)
            case .refused(let error):
                attempts += 1
                guard error.reason == .version, attempts < Self.mostAttempts else { return work.end(error) }
                items = []
                leftOut = 0
                version = nil
                ask(work, offset: 0, done)
            case .result(let page):
                version = page["version"]?.integerValue
                for item in page["items"]?.arrayValue ?? [] { take(item) }
                guard items.count <= ListEdit.maximumItems else {
                    return work.end(RPCError(ListFailure.tooLong(limit: ListEdit.maximumItems)))
                }
                if let next = page["next"]?.integerValue { return ask(work, offset: next, done) }
                work.end(nil)
                done(items, leftOut)
            }
        }
    }

    private func take(_ item: JSONValue) {
        guard let uri = item["uri"]?.stringValue else { return leftOut += 1 }
        let title = item["title"]?.stringValue
        let shown = item["artist"]?.stringValue.flatMap { artist in title.map { artist + " - " + $0 } } ?? title
        switch sight.medium(uri) {
        case .file(_, let uri):
            items.append(ListItem(uri: uri, title: shown, duration: item["duration"]?.doubleValue))
        case .address(let address):
            items.append(ListItem(uri: address, title: shown, duration: item["duration"]?.doubleValue))
        case .hidden, .unplayable: leftOut += 1
        }
    }
}
