import ControlProtocol
import Testing

@testable import WebProtocol

/// Methods that callers reach beyond the sockets of this machine.
@Suite struct ReachTests {
    /// All methods by their reach. A new method stays on its socket until its row and this table name a reach.
    private static let table: [(reach: Method.Reach, names: Set<String>)] = [
        (.socket, ["nowPlaying.map", "nowPlaying.publish", "daemon.reload", "daemon.quit", "figures.get"]),
        (
            .network(.read),
            [
                "hello", "nowPlaying.subscribe", "nowPlaying.unsubscribe", "library.artwork", "lists.list", "lists.get",
                "library.query", "library.count", "library.values", "library.browse", "library.get",
                "library.comments", "library.search", "library.status", "library.subscribe", "library.unsubscribe",
                "clock.now", "devices.list", "devices.revoke", "artwork.link", "rooms.list", "rooms.subscribe",
                "rooms.unsubscribe",
            ]
        ),
        (.network(.remote), ["rooms.volume.set"]),
        (
            .network(.control),
            [
                "feedback.subscribe", "feedback.unsubscribe", "library.add", "library.update",
                "library.loudness", "lists.save", "lists.edit", "lists.rename", "lists.delete", "rooms.configure",
                "rooms.remove",
            ]
        ),
        (
            .networkAndBroker(.read),
            [
                "rpc.discover", "nowPlaying.get", "commands.list", "queue.list", "queue.get", "queue.changes",
                "output.list", "formats.list", "artwork.get", "session.list",
            ]
        ),
        (
            .networkAndBroker(.remote),
            [
                "play", "pause", "stop", "togglePlayPause", "nextTrack", "previousTrack", "skipForward",
                "skipBackward", "seekForward", "seekBackward", "changePlaybackPosition", "changeRepeatMode",
                "changeShuffleMode", "changeSingleMode", "changePlaybackRate", "rating", "like", "dislike", "bookmark",
                "volume.set",
            ]
        ),
        (
            .networkAndBroker(.control),
            [
                "changeConsumeMode", "commands.configure", "feedback.get", "feedback.set", "feedback.changes",
                "queue.add", "queue.remove", "queue.move", "queue.clear", "queue.shuffle", "queue.prioritize",
                "item.update", "loudness.set", "crossfade.set", "fade.set", "sleep.set", "announce", "output.select",
                "output.delay.set", "diagnostics.get", "session.create", "session.activate", "session.close",
            ]
        ),
    ]

    private static let roles: [ControlProtocol.Role] = [.read, .remote, .control]

    @Test("the table names each method of all programs once") func whole() {
        let own = ["clock.now", "devices.list", "devices.revoke", "artwork.link"] + RoomMethods.methods.map(\.name)
        let all = (Catalogue.table.methods + LibraryCatalogue.table.methods).map(\.name) + own
        #expect(Set(all) == Self.table.reduce(into: Set()) { $0.formUnion($1.names) })
        #expect(Self.table.reduce(0) { $0 + $1.names.count } == Set(all).count)
    }

    @Test("a method reaches the network and the broker only as its row says") func rows() {
        for (reach, names) in Self.table {
            for name in names {
                let rows = [Catalogue.table, LibraryCatalogue.table].compactMap { $0.method(name) }
                #expect(rows.allSatisfy { $0.reach == reach }, "\(name)")
                // No row gives more on the network than on the socket.
                #expect(rows.allSatisfy { row in reach.network.map { $0 >= row.role } ?? true }, "\(name)")
                #expect(NetworkMethods.table.method(name)?.role == reach.network, "\(name)")
                for role in Self.roles {
                    let isAllowed = (try? NetworkMethods.server(of: name, for: role)) != nil
                    #expect(isAllowed == (reach.network.map { $0 <= role } ?? false), "\(name) for \(role)")
                }
            }
        }
    }

    @Test("a row that names no reach stays on its socket") func new() {
        let row = Method(
            name: "box.explode", kind: .server, role: .read, parameters: [], help: "", result: "", example: "{}")
        #expect(row.reach == .socket && row.reach.network == nil && !row.reach.includesBroker)
    }
}
