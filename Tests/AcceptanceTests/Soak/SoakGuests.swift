import ControlProtocol
import Glibc

/// Clients that come and go.
struct SoakGuests {
    private var silent: [Client] = []
    private var count = 0

    /// Everybody goes.
    mutating func leave() { silent = [] }

    /// One client follows the daemon and leaves; another one never reads, and leaves much later.
    mutating func subscribe(_ soak: Soak) {
        let guest = soak.household.daemon.connect()
        guest.call("hello", ["client": "a guest"])
        guest.call("nowPlaying.subscribe", soak.chance(2) == 0 ? [:] : ["causes": ["track", "play"]])
        guest.call("queue.list", ["limit": 10])
        if soak.chance(2) == 0 { guest.call("nowPlaying.unsubscribe") }
        if soak.chance(3) > 0 { return }
        silent.append(guest)
        if silent.count > 5 { silent.removeFirst() }
    }

    /// One plays something of its own over the music, until it goes.
    mutating func play(_ soak: Soak) {
        let guest = soak.household.daemon.connect()
        count += 1
        let name = JSONValue.string("guest-\(count)")
        let policy = JSONValue.string(["pause", "duck", "mix"][soak.chance(3)])
        guest.call("session.create", ["name": name, "policy": policy, "whileConnected": true])
        guest.call("queue.add", ["session": name, "items": .array(soak.library.pieces.map(JSONValue.string))])
        guest.call("play", ["session": name])
        soak.linger(5)
        if soak.chance(2) == 0 { guest.call("session.close", ["name": name]) }
    }

    /// Another program publishes its playback, and goes.
    mutating func publish(_ soak: Soak) {
        let guest = soak.household.daemon.connect()
        count += 1
        let name = JSONValue.string("airplay-\(count)")
        guest.call("session.create", ["name": name, "external": true, "commands": ["play", "pause"]])
        let item: JSONValue = ["title": "Aria", "artist": "Glenn", "duration": 200]
        guest.call("nowPlaying.publish", ["session": name, "state": "playing", "item": item])
        soak.linger(2.5)
        if soak.chance(2) == 0 {
            guest.call("nowPlaying.publish", ["session": name, "state": "stopped", "item": item])
        }
    }

    /// One does not know the protocol, and goes in the middle of a line.
    mutating func talkNonsense(_ soak: Soak) {
        let guest = soak.household.daemon.connect()
        guest.sendLine("{{{ \u{1b}[31m")
        guest.sendLine(#"{"jsonrpc":"2.0","id":7,"method":"queue.add","params":{"items":[{"descriptor":0}]}}"#)
        guest.sendLine(#"[{"jsonrpc":"2.0","method":"nothing"},7,{}]"#, [soak.library.bell, soak.library.bell])
        guest.sendPart(#"{"jsonrpc":"2.0","id":1,"method":"pl"#)
    }
}
