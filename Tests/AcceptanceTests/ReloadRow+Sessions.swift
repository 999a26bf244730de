import ControlProtocol
import TestSupport

extension ReloadRow {
    // MARK: Announcements

    /// The demands of an announcement as the log has them: of `main`, which plays it, and of the other sessions.
    private static let demands: Effect = .inSessions(["main", "early", "late"]) { house, session in
        let words = session == "main" ? "announcement of " : "session \(session) yields to announcement: "
        let line = house.newest(words) { house.announce() }
        return session == "main" ? String(line[(line.firstRange(of: ": ")?.upperBound ?? line.startIndex)...]) : line
    }

    static let announcements: [ReloadRow] = [
        ReloadRow(
            name: "announcements.policy", before: "duck", after: "pause",
            looks: ("duck, -20.0 dB in 0.1 s, back in 0.5 s", "pause, -20.0 dB in 0.1 s, back in 0.5 s"),
            effect: demands),
        ReloadRow(
            name: "announcements.duck-to", before: "-10", after: "-30",
            looks: ("duck, -10.0 dB in 0.1 s, back in 0.5 s", "duck, -30.0 dB in 0.1 s, back in 0.5 s"),
            effect: demands),
        ReloadRow(
            name: "announcements.attack", before: "0.2", after: "0.3",
            looks: ("duck, -20.0 dB in 0.2 s, back in 0.5 s", "duck, -20.0 dB in 0.3 s, back in 0.5 s"),
            effect: demands),
        ReloadRow(
            name: "announcements.release", before: "0.6", after: "0.7", looks: ("back in 0.6 s", "back in 0.7 s"),
            effect: .inSessions(["early", "late"]) { house, session in
                house.newest("session \(session) yields to announcement no more, ") { house.announce() }
            }),
        ReloadRow(
            name: "announcements.volume", before: "0.5", after: "0.7", looks: ("volume 0.5", "volume 0.7"),
            effect: .ofDaemon { house in
                let line = house.newest("announcement of ") { house.announce() }
                return line.firstRange(of: "volume").map { String(line[$0.lowerBound...]) } ?? ""
            }),
        ReloadRow(
            name: "announcements.limit", before: "60", after: "1", looks: ("whole", "cut"),
            effect: .ofDaemon { $0.announce(seconds: 1.5)["cut"] == true ? "cut" : "whole" }),
    ]

    // MARK: Media

    static let media: [ReloadRow] = [
        ReloadRow(
            name: "media.legacy-charset", before: "cp1252", after: "cp1251", looks: ("Ïðèâåò", "Привет"),
            effect: .ofDaemon { house in
                _ = house.folder.silence("hello.wav", seconds: 60)
                let title: [UInt8] = [0xCF, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2]
                let list = Array("#EXTM3U\n#EXTINF:60,".utf8) + title + Array("\nhello.wav\n".utf8)
                house.owner.call("queue.clear")
                house.owner.call("queue.add", ["items": [.string(house.folder.write(list, "list.m3u"))]])
                return house.owner.call("queue.list")?["items"]?.arrayValue?.first?["title"]?.stringValue ?? ""
            })
    ]

    // MARK: Sessions

    /// The demands of `main` on another session while it plays, as the log has them.
    private static let demandsOfMain: Effect = .inSessions(["early", "late"]) { house, session in
        house.newest("session \(session) yields to main: ") { house.show("main") }
    }

    static let sessions: [ReloadRow] = [
        ReloadRow(
            name: "sessions.main-policy", before: "pause", after: "duck",
            looks: ("pause, -20.0 dB in 0.1 s, back in 0.5 s", "duck, -20.0 dB in 0.1 s, back in 0.5 s"),
            effect: demandsOfMain),
        ReloadRow(
            name: "sessions.duck-to", before: "-10", after: "-30",
            looks: ("pause, -10.0 dB in 0.1 s, back in 0.5 s", "pause, -30.0 dB in 0.1 s, back in 0.5 s"),
            effect: demandsOfMain),
        ReloadRow(
            name: "sessions.attack", before: "0.2", after: "0.3",
            looks: ("pause, -20.0 dB in 0.2 s, back in 0.5 s", "pause, -20.0 dB in 0.3 s, back in 0.5 s"),
            effect: demandsOfMain),
        ReloadRow(
            name: "sessions.release", before: "0.6", after: "0.7",
            looks: ("pause, -20.0 dB in 0.1 s, back in 0.6 s", "pause, -20.0 dB in 0.1 s, back in 0.7 s"),
            effect: demandsOfMain),
        ReloadRow(
            name: "sessions.activate-on-play", before: "no", after: "yes", looks: ("main", "voice"),
            effect: .ofDaemon { $0.activeBesideMain("voice") }),
    ]
}
