import ControlProtocol
import DaemonConfiguration
import TestSupport
import Testing

extension Acceptance {
    /// A reload takes effect for each setting that the manual calls reloadable, in sessions that exist and in later ones.
    @Suite(.timeLimit(.minutes(5))) struct SettingsReloadTests {
        init() { LoopThread.start() }

        @Test("each reloadable setting takes effect when the configuration is read again")
        func everySetting() async throws {
            let ended = ["daemon.idle-exit"]
            #expect(
                Set(ReloadRow.all.map(\.name) + ended)
                    == Set(Setting.all.filter(\.isReloadable).map(\.id)))
            for (number, row) in ReloadRow.all.enumerated() {
                let house = await ReloadHouse(row)
                // The log has the reading itself only from "info" on, which all rows have.
                let way = ReloadRow.Way.allCases[number % ReloadRow.Way.allCases.count]
                switch row.effect {
                case .inSessions(let sessions, let look):
                    for session in sessions where session != "late" {
                        #expect(look(house, session) == row.looks.old, "\(row.name) in \(session), before")
                    }
                    house.reload(by: way)
                    for session in sessions {
                        #expect(look(house, session) == row.looks.new, "\(row.name) in \(session), after \(way)")
                    }
                    #expect(house.daemon.stop() == 0, "\(row.name)")
                case .ofDaemon(let look):
                    if row.name != "playback.resume" {
                        #expect(await look(house) == row.looks.old, "\(row.name), before")
                    }
                    house.reload(by: way)
                    #expect(await look(house) == row.looks.new, "\(row.name), after \(way)")
                }
            }
        }

        @Test("a daemon that is allowed to end when it is idle does so", arguments: ReloadRow.Way.allCases)
        func idleExit(_ way: ReloadRow.Way) async throws {
            let row = ReloadRow(
                name: "daemon.idle-exit", before: "3600", after: "1", looks: ("", ""), isHandedOver: true,
                effect: .ofDaemon { _ in "" })
            let house = await ReloadHouse(row)
            house.owner.call("session.close", ["name": "early"])
            house.reload(by: way)
            house.owner.call("session.close", ["name": "late"])
            house.leave()
            #expect(house.daemon.process.wait() == 0)
            #expect(house.lines("(idle-exit)").count == 1)
        }
    }
}
