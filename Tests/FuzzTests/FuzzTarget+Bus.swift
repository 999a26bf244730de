import CSystemd
import ControlProtocol
import LinuxSystem

@testable import MPRISBridge

/// Input from the message bus.
extension FuzzTarget {
    /// A call of the player's object. Four bytes choose the sender, the method, and correct or arbitrary arguments. The
    /// following bytes make the arguments, of all types and values that a message can have. If the first byte is 200 or more,
    /// there is no call: the other bytes choose the reads of the arguments.
    static let busCall = FuzzTarget(
        name: "bus-call",
        seeds: {
            func texts(_ texts: String...) -> [UInt8] { texts.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } }
            func call(_ member: String, _ arguments: [UInt8]) -> [UInt8] {
                let place = BusArguments.members.firstIndex { $0.member == member } ?? 0
                return [0, UInt8(place), 0, 0] + arguments
            }
            let player = "org.mpris.MediaPlayer2.Player"
            let (track, none) = ("/nowplayingd/track/12", "/org/mpris/MediaPlayer2/TrackList/NoTrack")
            let number: [UInt8] = [0, 0, 0, 0, 0, 0, 0xF0, 0x3F]
            return [
                call("Seek", [0x40, 0x42, 0x0F, 0, 0, 0, 0, 0]), call("SetPosition", texts(track) + number),
                call("OpenUri", texts("file:///a%20b.flac")), call("Get", texts(player, "Metadata")),
                call("GetAll", texts(player)), call("GetTracksMetadata", [3] + texts(track, none, track)),
                call("AddTrack", texts("http://h/a", none) + [1]), call("GoTo", texts(track)),
                call("Set", texts(player, "Volume") + [7] + number), call("Set", texts(player, "Rate") + [7] + number),
                call("Set", texts(player, "LoopStatus") + [8] + texts("Track")),
                call("Set", texts(player, "Shuffle") + [0, 1]), [1, 7, 1, 1] + texts(player) + number,
                [200, 0, 0, 1, 14, 1] + texts("UnixUserID") + [4, 3, 0, 0, 0],
                [201, 9, 0, 1, 13, 2] + texts(track, none),
            ]
        },
        run: { bytes in
            FuzzBridge.run { bridge in
                var arguments = BusArguments(bytes)
                let (kind, place, isNamed, isFree) = (
                    arguments.byte(), Int(arguments.byte()), arguments.byte() % 2 == 0, arguments.byte() % 2 == 1
                )
                let known = BusArguments.members[place % BusArguments.members.count]
                let interface = place < 200 ? known.interface : "no.such.Interface"
                let message = bridge.call(isNamed ? interface : nil, known.member) { message in
                    isFree ? arguments.writeAny(to: message) : arguments.write(known.signature, to: message)
                }
                guard let message else { return }
                if kind >= 200 { return arguments.read(message) }
                let role: Role? = [.admin, .control, .read][Int(kind / 2) % 3]
                // An allowed folder would be searched on this host, as long as its disk takes.
                let namesMedia = ["OpenUri", "AddTrack"].contains(known.member)
                bridge.serve(message, SenderRights(role: role, isForeign: kind % 2 == 1 || namesMedia))
            }
        })
}

/// Makes arguments of a message out of bytes: of each value's type as many as it takes, of a text its length first.
private struct BusArguments {
    /// Methods of the object and the types that they take.
    static let members: [(interface: String, member: String, signature: String)] = [
        (Introspection.player, "Next", ""), (Introspection.player, "Seek", "x"),
        (Introspection.player, "SetPosition", "ox"), (Introspection.player, "OpenUri", "s"),
        (Introspection.root, "Raise", ""), (Introspection.properties, "Get", "ss"),
        (Introspection.properties, "GetAll", "s"), (Introspection.properties, "Set", "ssv"),
        (Introspection.trackList, "GetTracksMetadata", "ao"), (Introspection.trackList, "AddTrack", "sob"),
        (Introspection.trackList, "RemoveTrack", "o"), (Introspection.trackList, "GoTo", "o"),
        (Introspection.introspectable, "Introspect", ""), (Introspection.player, "Nothing", "s"),
    ]
    private static let types = [
        "b", "y", "n", "i", "u", "x", "t", "d", "s", "o", "g", "v", "as", "ao", "a{sv}", "(sx)", "au",
    ]
    /// Containers in containers, at most: the bus allows 64.
    private static let deepest = 20

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// The next byte; 0: there is none.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    private mutating func type() -> String { Self.types[Int(byte()) % Self.types.count] }

    /// Writes arguments of these types; false: one can't be.
    mutating func write(_ signature: String, to message: OpaquePointer) -> Bool {
        var type = ""
        for kind in signature {
            type.append(kind)
            if kind == "a" { continue }
            guard write(type: type, to: message, depth: 0) else { return false }
            type = ""
        }
        return true
    }

    /// Writes arguments of any types, as many as the next byte says.
    mutating func writeAny(to message: OpaquePointer) -> Bool {
        for _ in 0..<byte() % 8 {
            let type = type()
            guard write(type: type, to: message, depth: 0) else { return false }
        }
        return true
    }

    private mutating func write(type: String, to message: OpaquePointer, depth: Int) -> Bool {
        switch type {
        case "s", "o", "g":
            let text = rest.prefix(Int(byte()))
            rest = rest.dropFirst(text.count)
            return (Array(text) + [0]).withUnsafeBytes {
                sd_bus_message_append_basic(message, code(type), $0.baseAddress) >= 0
            }
        case "v":
            let contents = depth < Self.deepest ? self.type() : "x"
            return within(message, "v", contents) { $0.write(type: contents, to: message, depth: depth + 1) }
        case "as", "ao", "au", "a{sv}":
            let contents = String(type.dropFirst())
            return within(message, "a", contents) { own in
                for _ in 0..<own.byte() where !own.write(type: contents, to: message, depth: depth + 1) { return false }
                return true
            }
        case "{sv}", "(sx)":
            let (first, second) = type == "{sv}" ? ("s", "v") : ("s", "x")
            return within(message, type == "{sv}" ? "e" : "r", first + second) {
                $0.write(type: first, to: message, depth: depth)
                    && $0.write(type: second, to: message, depth: depth + 1)
            }
        case "b":
            var value = Int32(byte() % 2)
            return sd_bus_message_append_basic(message, code(type), &value) >= 0
        default:
            let size = ["y": 1, "n": 2, "i": 4, "u": 4][type] ?? 8
            let value = (0..<size).map { _ in byte() }
            return value.withUnsafeBytes { sd_bus_message_append_basic(message, code(type), $0.baseAddress) >= 0 }
        }
    }

    private mutating func within(
        _ message: OpaquePointer, _ kind: String, _ contents: String, _ body: (inout BusArguments) -> Bool
    ) -> Bool {
        guard sd_bus_message_open_container(message, code(kind), contents) >= 0, body(&self) else { return false }
        return sd_bus_message_close_container(message) >= 0
    }

    private func code(_ type: String) -> CChar { CChar(bitPattern: type.utf8.first ?? 0) }

    /// Reads the arguments of a message. Each remaining byte chooses a read.
    @PlayerLoop mutating func read(_ message: BusMessage) {
        if let (_, groups) = SenderJudge.credentials(message) { precondition((groups ?? []).count <= 1 << 16) }
        sd_bus_message_rewind(message.pointer, 1)
        var depth = 0
        for _ in 0..<max(16, rest.count) {
            let kind = byte()
            switch kind % 10 {
            case 0: _ = message.readText()
            case 1: _ = message.readText("o")
            case 2: _ = message.readBool()
            case 3: _ = message.readInt64()
            case 4: _ = message.readUInt32()
            case 5: _ = message.readDouble()
            case 6: precondition((message.readPaths(limit: Int(kind / 10)) ?? []).count <= Int(kind / 10))
            case 7: message.skip()
            case 8:
                let (kind, contents) = [("a", "o"), ("v", "s"), ("a", "{sv}"), ("e", "sv"), ("a", "u")][
                    Int(kind / 10) % 5]
                if message.enter(Character(kind), contents) { depth += 1 }
            default:
                if depth > 0 {
                    message.leave()
                    depth -= 1
                }
            }
        }
    }
}
