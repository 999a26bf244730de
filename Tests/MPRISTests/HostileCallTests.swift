import CSystemd
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import MPRISBridge

/// Callers on the bus that want to break it.
@Suite(.serialized, .timeLimit(.minutes(20))) struct HostileCallTests {
    @Test("any method and property, with arguments of any types and values, is answered in words")
    func calls() async throws {
        let installation = await Installation.running()
        installation.control("play", installation.silence("a.wav"), installation.silence("b.wav"))
        let count = getenv("NOWPLAYING_NIGHTLY") != nil ? 100_000 : 500
        let address = installation.address
        let (answered, complaints) = await LoopThread.run {
            let caller = HostileCaller(address)
            for _ in 0..<count { caller.call() }
            return (caller.answered, caller.complaints)
        }
        #expect(complaints.prefix(5) == [])
        // Most are nonsense, but not all.
        #expect(answered > count / 100 && answered < count)
        // Both are there, and as they were.
        #expect(installation.isSeen())
        installation.control("stop")
        #expect(installation.playerctl("status") == "Stopped")
        #expect(installation.end("bridge") == 0)
        #expect(installation.end("daemon") == 0)
    }
}

/// A connection to the bus that sends anything to the player. On the loop, which waits meanwhile.
@PlayerLoop private final class HostileCaller {
    private var bus: OpaquePointer?
    private var numbers = SeededRandom(seed: 7)
    /// Calls that were no errors.
    private(set) var answered = 0
    private(set) var complaints: [String] = []

    init(_ address: String) {
        precondition(
            sd_bus_new(&bus) >= 0 && sd_bus_set_address(bus, address) >= 0 && sd_bus_set_bus_client(bus, 1) >= 0
                && sd_bus_start(bus) >= 0)
    }

    isolated deinit {
        sd_bus_close(bus)
        sd_bus_unref(bus)
    }

    private static let player = "org.mpris.MediaPlayer2.nowplayingd"
    private static let interfaces = [
        "org.mpris.MediaPlayer2", "org.mpris.MediaPlayer2.Player", "org.mpris.MediaPlayer2.TrackList",
        "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Peer", "no.such.Interface",
    ]
    /// Members and the arguments that they want.
    private static let members = [
        ("Next", ""), ("Previous", ""), ("Pause", ""), ("PlayPause", ""), ("Stop", ""), ("Play", ""), ("Seek", "x"),
        ("SetPosition", "ox"), ("OpenUri", "s"), ("Raise", ""), ("Get", "ss"), ("GetAll", "s"), ("Set", "ssv"),
        ("GetTracksMetadata", "ao"), ("AddTrack", "sob"), ("RemoveTrack", "o"), ("GoTo", "o"), ("Nothing", "s"),
        ("Ping", ""),
    ]
    private static let texts = [
        "", "Volume", "Rate", "LoopStatus", "Shuffle", "Metadata", "Position", "Tracks", "Track", "Playlist",
        "org.mpris.MediaPlayer2.Player", "org.mpris.MediaPlayer2.TrackList", "org.mpris.MediaPlayer2", "/no/such.flac",
        "file:///%00%ff%", "http://", "a\u{1b}[31m\u{7}\n\u{202E}b", String(repeating: "é", count: 40_000),
        "file://" + String(repeating: "%41", count: 5000),
    ]
    private static let paths = [
        "/", "/nowplayingd/track/1", "/nowplayingd/track/2", "/nowplayingd/track/9223372036854775807",
        "/nowplayingd/track/92233720368547758070", "/nowplayingd/track/_1", "/org/mpris/MediaPlayer2/TrackList/NoTrack",
    ]
    private static let wholes: [Int64] = [
        0, 1, -1, .max, .min, 1_000_000, -1_000_000, 9_007_199_254_740_993, 60_000_000_000,
    ]
    private static let doubles = [
        0, -0.0, 1, 0.5, -1, .nan, .infinity, -.infinity, 1e300, 2.3e-308, 1.5, 2,
    ]

    private func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &numbers) }

    /// Calls anything.
    func call() {
        let (member, wanted) = Self.members.randomElement(using: &numbers)!
        let interface = Self.interfaces.randomElement(using: &numbers)!
        var made: OpaquePointer?
        guard
            sd_bus_message_new_method_call(
                bus, &made, Self.player, "/org/mpris/MediaPlayer2", chance(4) == 0 ? nil : interface, member) >= 0,
            let made
        else { return complaints.append("no message can be made") }
        defer { sd_bus_message_unref(made) }
        // Every second time the arguments are of the types that are wanted.
        if chance(2) == 0 {
            for kind in arguments(wanted) { append(kind, to: made, depth: 0) }
        } else {
            for _ in 0..<chance(5) { append(anyType, to: made, depth: 0) }
        }
        var error = sd_bus_error()
        var reply: OpaquePointer?
        let result = sd_bus_call(bus, made, 20_000_000, &error, &reply)
        defer {
            sd_bus_error_free(&error)
            if reply != nil { sd_bus_message_unref(reply) }
        }
        if result >= 0 {
            answered += 1
            return
        }
        let name = error.name.map { String(cString: $0) } ?? ""
        let message = error.message.map { String(cString: $0) } ?? ""
        if ["NoReply", "Timeout", "Disconnected", "ServiceUnknown", "NameHasNoOwner"].contains(where: name.hasSuffix)
            || message.isEmpty || message.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 })
        {
            complaints.append("\(interface) \(member): \(name) “\(message.prefix(200))”")
        }
    }

    private func arguments(_ signature: String) -> [String] {
        var result: [String] = []
        for kind in signature {
            if result.last == "a" { result[result.count - 1] += "\(kind)" } else { result.append("\(kind)") }
        }
        return result
    }

    private var anyType: String {
        ["b", "y", "n", "i", "u", "x", "t", "d", "s", "o", "g", "v", "as", "ao", "a{sv}", "(sx)"]
            .randomElement(using: &numbers)!
    }

    private func append(_ type: String, to message: OpaquePointer, depth: Int) {
        switch type {
        case "s", "g", "o":
            let text =
                type == "s"
                ? Self.texts.randomElement(using: &numbers)!
                : type == "g"
                    ? ["", "a{sv}", "x"].randomElement(using: &numbers)! : Self.paths.randomElement(using: &numbers)!
            text.withCString { _ = sd_bus_message_append_basic(message, code(type), $0) }
        case "d":
            var value = Self.doubles.randomElement(using: &numbers)!
            sd_bus_message_append_basic(message, code(type), &value)
        case "b":
            var value = Int32(chance(2))
            sd_bus_message_append_basic(message, code(type), &value)
        case "v":
            let contents = depth > 5 ? "x" : anyType
            sd_bus_message_open_container(message, code("v"), contents)
            append(contents, to: message, depth: depth + 1)
            sd_bus_message_close_container(message)
        case "as", "ao":
            sd_bus_message_open_container(message, code("a"), String(type.dropFirst()))
            for _ in 0..<(chance(10) == 0 ? 1000 : chance(5)) {
                append(String(type.dropFirst()), to: message, depth: depth)
            }
            sd_bus_message_close_container(message)
        case "a{sv}":
            sd_bus_message_open_container(message, code("a"), "{sv}")
            for _ in 0..<chance(4) {
                sd_bus_message_open_container(message, code("e"), "sv")
                append("s", to: message, depth: depth)
                append("v", to: message, depth: depth + 1)
                sd_bus_message_close_container(message)
            }
            sd_bus_message_close_container(message)
        case "(sx)":
            sd_bus_message_open_container(message, code("r"), "sx")
            append("s", to: message, depth: depth)
            append("x", to: message, depth: depth)
            sd_bus_message_close_container(message)
        default:
            // Whole numbers: as many of the bytes as the type has.
            var value = Self.wholes.randomElement(using: &numbers)!
            sd_bus_message_append_basic(message, code(type), &value)
        }
    }

    private func code(_ type: String) -> CChar { CChar(bitPattern: type.utf8.first ?? 0) }
}
