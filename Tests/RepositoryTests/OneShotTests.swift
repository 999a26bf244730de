import Foundation
import Testing

/// Every timer of the programs is set once, for a moment that a manual page names.
@Suite struct OneShotTests {
    /// Places that set a deadline, and the words of nowplayingd(1), WAKEUPS, that name it.
    private static let documented = [
        "LinuxSystem/WallClock.swift": "One timer belongs to the wall clock",
        "PlaybackEngine/Decoding/DecodeAlarm.swift": "a tenth of a second before the next request of a device",
        "PlaybackEngine/Playout/Boundaries.swift": "the audible end of an item",
        "PlaybackEngine/Playout/ClockWatch.swift": "a second between two readings",
        "PlaybackEngine/Playout/Crossfade.swift": "the end of the item that goes",
        "PlaybackEngine/Playout/FlowChange.swift": "one second for its answer",
        "PlaybackEngine/Playout/PendingChange.swift": "a tenth for the item after",
        "PlaybackEngine/Playout/PieceWait.swift": "the last moment for a refill whose source is slow",
        "PlaybackEngine/Playout/RequestWatch.swift": "a second after the next request of the sound server is due",
        "PlaybackEngine/Playout/Starvation.swift": "the end of the sound that was sent when nothing follows",
        "PlaybackEngine/Publishing/Hearing.swift": "the instant at which a pending change",
        "PlaybackEngine/Publishing/ItemMarks.swift": "a chapter or an advertisement",
        "PlaybackEngine/Publishing/StreamDescriptions.swift": "the next title of a station",
        "PlaybackEngine/Recovery/DeviceNews.swift": "a second between two events of a flapping device",
        "LinuxSystem/NetworkWatch.swift": "half a second after a change of the network",
        "PlaybackEngine/Recovery/NetworkRecovery.swift": "the next attempt to reach an address",
        "PlaybackEngine/Recovery/OutputRecovery.swift": "the next attempt to reach the sound server",
        "PlaybackEngine/Recovery/ReadWatch.swift": "five for a read that hangs",
        "PlaybackEngine/Recovery/SourceRecovery.swift": "a missing medium",
        "PlaybackEngine/Titles/Titles.swift": "a second between two events of titles",
        "MediaAccess/TitleDesk.swift": "a file whose title is read",
        "PlaybackEngine/Timers/Scanner.swift": "the steps of a held seek",
        "PlaybackEngine/Timers/PauseFades.swift": "the end of the fade of a pause",
        "PlaybackEngine/Timers/Sleeper.swift": "sleep and its fade",
        "PlaybackEngine/Announcements/Announcer.swift": "the limits of an announcement",
        "MixedOutput/Mixed/Mixer.swift": "about six times a second, the next frames",
        "MixedOutput/Null/NullStream.swift": "the next request of a device",
        "MixedOutput/Snapcast/SnapcastSink.swift": "a tenth of a second before a new connection",
        "PulseOutput/PulseConnection.swift": "to accept a connection, one for each of its answers",
        "PulseOutput/PulseMainLoop.swift": "to accept a connection",
        "PulseOutput/PulseOutput+Devices.swift": "the list of devices",
        "PulseOutput/ServerWatch.swift": "the next attempt to reach the sound server",
        "StateKeeping/StateStore.swift": "a moment after a change that is to be saved",
        "Sessions/Artwork/ArtworkKeeper+Get.swift": "a picture",
        "ControlServer/Connection.swift": "sent before it disconnected",
        "ControlServer/Farewells.swift": "requests that a client sent",
        "ControlServer/ControlServer.swift": "no more descriptors",
        "ControlServer/ClientCalls.swift": "a command to an external session",
        "Sessions/Player/DiagnosisMethods.swift": "a diagnosis",
        "Sessions/Player/VolumeFade.swift": "the steps of a volume ramp",
        "DaemonRuntime/Daemon/IdleExit.swift": "the exit of an idle daemon",
        "DaemonRuntime/Daemon/RunningDaemon.swift": "half a second after the start",
        "BridgeRuntime/BridgeRest.swift": "0.7 seconds after an event",
        "BridgeRuntime/FollowedDaemon.swift": "after they lose the daemon or the bus",
        "MPRISBridge/Bus/BusPresence.swift": "after they lose the daemon or the bus",
        "MPDBridge/Bounds/PasswordGate.swift": "the answer to a wrong password",
        "MPDBridge/Library/Library.swift": "an attempt at a library that refuses, once a second and ten times",
        "MPDBridge/Network/ClientPatience.swift": "a minute without a line from a client that waits for nothing",
        "BridgeRuntime/AcceptPause.swift": "a second when the system has no more descriptors",
        "WebBridge/HTTP/HTTPServer.swift": "ten seconds for the head of a request",
        "WebBridge/Sockets/CallerPace.swift": "the next request of a caller that has used its share of the processor",
        "WebBridge/HTTP/HTTPConnection.swift": "for the time of its body",
        "WebBridge/Network/Avahi.swift": "five seconds after it loses the bus of Avahi",
        "WebBridge/Upstream/LibraryReturn.swift": "an attempt at a library that is back, once a second and ten times",
        "WebBridge/Rooms/RoomLink.swift": "five seconds for an answer of the Snapcast server",
        "WebBridge/Rooms/RoomDesk.swift": "the next look at its rooms",
        "WebBridge/Speech/Speech.swift": "ten seconds for a text that is spoken",
        "WebBridge/Sockets/WebSocket.swift": "a browser that takes nothing for half a minute",
        "WebAccess/Pairing/PairingSocket.swift": "the end of a pairing code",
        "WebBridge/Answers/MetricsDesk.swift": "three seconds for the figures of the daemon and of the library",
        "WebBridge/Answers/PairDesk.swift": "the answer to a wrong code or token",
        "LibraryRuntime/Service/DatabaseUpgrade.swift": "the next attempt to update a database",
        "SnapcastBridge/SnapcastPlugin.swift": "0.2 seconds after a change, in which the parts of one message arrive",
        "nowplaying-mqtt/MQTTBridge.swift": "when the broker is away",
        "nowplaying-mqtt/MQTTConnection.swift": "sends keep-alive messages",
        "nowplaying-hooks/Activity.swift": "has a timer for its quiet time",
        "nowplaying-hooks/HookRun.swift": "the time limit of a hook",
        "LibraryRuntime/Link/DaemonCaller.swift": "the daemon's answer to a request of its clients",
        "LibraryRuntime/Scan/ChangeThrottle.swift": "a second between two of its events",
        "LibraryRuntime/Scan/DiskWatchdog.swift": "a look at a disk that may hang while a scan waits for it",
        "LibraryRuntime/Scan/ScanSchedule.swift": "the next walk of folders that cannot be watched, the daily scan",
        "LibraryRuntime/Service/ChangeEvents.swift": "a second between two of its events",
        "LibraryRuntime/Service/ReaderPool.swift": "its memory two seconds after the last question",
        "LibraryRuntime/Watch/ChangeCollector.swift": "changes in its folders that have not come to rest",
    ]

    /// Calls that would tick, sleep or set a hidden timer.
    private static let forbidden = [
        "Task.sleep", "DispatchQueue", "DispatchSource", "timer_settime", "setitimer", "nanosleep(",
        "sd_event_add_time",
        "PA_STREAM_AUTO_TIMING_UPDATE",
    ]

    private func sources() throws -> [(name: String, text: String)] {
        let root = URL(fileURLWithPath: ScriptRun.root + "/Sources").resolvingSymlinksInPath()
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map {
            (
                String($0.resolvingSymlinksInPath().path.dropFirst(root.path.count + 1)),
                try String(contentsOf: $0, encoding: .utf8)
            )
        }
    }

    @Test func everyTimerIsNamedInTheManual() throws {
        let page = try String(contentsOfFile: ScriptRun.root + "/etc/man/nowplayingd.1", encoding: .utf8)
        let section = try #require(page.components(separatedBy: ".Sh WAKEUPS\n").last)
            .components(separatedBy: "\n.Sh ")[0].replacingOccurrences(of: "\n", with: " ")
        let sources = try sources()
        #expect(sources.count > 100)
        let calls = ["loop.deadline(", "timerfd_settime("]
        let setting = Set(sources.filter { source in calls.contains { source.text.contains($0) } }.map(\.name))
        #expect(setting.subtracting(Self.documented.keys) == [], "not named under WAKEUPS in nowplayingd(1)")
        #expect(Set(Self.documented.keys).subtracting(setting) == [], "they set no timer any more")
        for (name, words) in Self.documented { #expect(section.contains(words), "\(name): “\(words)”") }
    }

    @Test func nothingTicks() throws {
        for (name, text) in try sources() where !name.hasPrefix("LinuxSystem/EventLoop") {
            let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            for word in Self.forbidden {
                #expect(!code.contains { $0.contains(word) }, "\(word) in \(name)")
            }
        }
    }
}
