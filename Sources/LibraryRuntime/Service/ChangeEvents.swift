import ControlProtocol
package import ControlServer
package import LinuxSystem
import NowPlaying
import TrackDatabase

/// Sends `library.changed` to its subscribers, at most once a second. Without changes, no timer runs.
@PlayerLoop package final class ChangeEvents {
    /// The kinds of events of the library: one for each view, as the number of tracks differs.
    private enum Kind: String {
        case own, foreign
    }

    /// Kind of the events of lists, which all subscribers get.
    package nonisolated static let lists = "lists"
    /// Seconds between two events.
    private static let interval = 1.0

    private let loop: EventLoop
    private let server: ControlServer
    private let views: LibraryViews
    private let pool: ReaderPool
    private let workers: Workers
    private weak var scans: ScanDesk?
    private var lastEvent: MonotonicTime?
    private var deadline: EventSource?
    private var isCounting = false
    /// True if the library changed during the count of its tracks.
    private var isChanged = false

    /// Events for this server's clients. Readers of `pool` count the tracks.
    package init(_ loop: EventLoop, _ server: ControlServer, _ views: LibraryViews, _ pool: ReaderPool) {
        self.loop = loop
        self.server = server
        self.views = views
        self.pool = pool
        workers = Workers(loop, name: "events")
    }

    /// Sets the scans whose progress is part of the events.
    func report(_ scans: ScanDesk) { self.scans = scans }

    /// The subscription of a client with these rights.
    package static func subscription(isForeign: Bool) -> Subscription {
        Subscription(kinds: [(isForeign ? Kind.foreign : .own).rawValue, Self.lists], subject: .every)
    }

    /// Notes a change of the library or its scan.
    package func changed() {
        guard server.subscriberCount > 0 else { return }
        guard !isCounting else {
            isChanged = true
            return
        }
        guard deadline == nil else { return }
        let next = lastEvent?.advanced(bySeconds: Self.interval) ?? EventLoop.now
        guard next > EventLoop.now else { return count() }
        deadline = loop.deadline(next) { [unowned self] in
            deadline = nil
            count()
        }
    }

    private func count() {
        lastEvent = EventLoop.now
        isCounting = true
        let (own, foreign) = (views.view(isForeign: false).visible, views.view(isForeign: true).visible)
        let pool = pool
        workers.submit { () -> (own: TrackReader.Summary, foreign: TrackReader.Summary)? in
            guard
                let all = try? pool.read(
                    for: nil, showing: own, { reader throws(TrackDatabaseError) in try reader.summary() }),
                let visible = try? pool.read(
                    for: nil, showing: foreign, { reader throws(TrackDatabaseError) in try reader.summary() })
            else { return nil }
            return (all, visible)
        } _: { [weak self] found in
            guard let self else { return }
            isCounting = false
            if let found {
                let progress = scans?.report.progress ?? .null
                server.publish(Self.event(isForeign: false, found.own, progress))
                server.publish(Self.event(isForeign: true, found.foreign, progress))
            }
            if isChanged {
                isChanged = false
                changed()
            }
        }
    }

    /// The event for clients with these rights.
    static func event(isForeign: Bool, _ summary: TrackReader.Summary, _ scan: JSONValue) -> ServerEvent {
        var parameters = JSONWriter()
        parameters.beginObject()
        parameters.member("version", Int(summary.version))
        parameters.member("tracks", Int(summary.tracks))
        parameters.key("scan")
        parameters.value(scan)
        parameters.endObject()
        return event((isForeign ? Kind.foreign : .own).rawValue, LibraryCatalogue.libraryChanged, parameters.bytes)
    }

    /// Reports a change of a saved list. `version` nil: it was deleted.
    func listChanged(_ name: ListName, version: Int64?) {
        guard server.subscriberCount > 0 else { return }
        var parameters = JSONWriter()
        parameters.beginObject()
        parameters.member("name", name.text)
        parameters.key("version")
        if let version { parameters.integer(version) } else { parameters.null() }
        parameters.endObject()
        server.publish(Self.event(Self.lists, LibraryCatalogue.listsChanged, parameters.bytes))
    }

    private static func event(_ kind: String, _ name: String, _ parameters: [UInt8]) -> ServerEvent {
        var writer = JSONWriter()
        writer.notification(name, parameters: parameters)
        writer.newline()
        return ServerEvent(kind: kind, subject: name, reach: .everySubject, line: writer.bytes)
    }
}
