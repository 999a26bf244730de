import ControlProtocol
import NowPlayingClient
import SnapcastControl

extension Rooms {
    /// The option that verbs about Snapcast take.
    static let serverOption = Option(
        "--server", value: "HOST", "the Snapcast server; default: that of the daemon's output, else this machine")

    /// Rooms of a Snapcast server.
    static let verbs = [
        Verb(
            name: "rooms", synopsis: "[ROOM]", summary: "list the rooms of a Snapcast server, or set one",
            details: """
                A room is a client of the server. ROOM is a name, a number of the list, or an id. Rooms of one group play the
                same stream. The server's ports have no password: everybody in the LAN can do the same.
                """,
            options: [
                serverOption,
                Option("--volume", value: "PERCENT", "set the volume of the room; +5 and -5 change it"),
                Option("--mute", value: "on|off", "mute the room, or end that"),
                Option("--latency", value: "MILLISECONDS", "play so much earlier, for a slow amplifier or television"),
                Option("--name", value: "NAME", "give the room another name"),
                Option("--join", value: "ROOM", "play in the group of that room"),
                Option("--leave", "play in a group of its own"),
                Option("--stream", value: "STREAM", "let the group of the room play this stream of the server"),
                Option("--mute-group", value: "on|off", "mute all rooms of the group, or end that"),
                Option("--remove", "remove a room that is not connected, with its settings"),
            ],
            examples: [
                ("rooms", "list them"), ("rooms Kitchen --volume 40", "set one"),
                ("rooms Bath --join Kitchen", "the same music in both"),
                ("rooms 2 --latency 120", "its television needs 120 ms"),
                ("rooms Attic --remove", "its client is gone for good"),
            ], arity: 0...1, run: Rooms.run)
    ]
}

/// `rooms`.
enum Rooms {
    /// Seconds for each answer of the server, unless `--timeout` sets others.
    static let patience = 5.0

    private static let settings = [
        "--volume", "--mute", "--latency", "--name", "--join", "--leave", "--stream", "--mute-group", "--remove",
    ]

    /// Lists the rooms, or sets one.
    static func run(_ run: Invocation) throws(Failure) {
        let isSetting = settings.contains(where: run.has)
        guard let word = run.words.first?.text else {
            guard !isSetting else { throw .usage("no room given; see: nowplayingctl rooms", verb: "rooms") }
            return try list(run)
        }
        let server = try server(run)
        let status = try server.call("Server.GetStatus")
        let rooms = Room.all(status) ?? []
        let room = try Room.named(word, in: rooms)
        if let stream = run.value("--stream") { try check(stream, status) }
        guard isSetting else {
            if run.wantsJSON { return run.printJSON(room.fullJSON) }
            return run.output.line(line(room, in: rooms))
        }
        // The program reads all values before it sets the first.
        for call in try calls(run, room, rooms) {
            let result = try server.call(call.method, call.parameters)
            if run.wantsJSON { run.printJSON(result) }
        }
    }

    /// The server of the command line, or else of the daemon's output.
    static func address(_ run: Invocation) throws(Failure) -> SnapcastServer.Address {
        let text = run.value("--server") ?? sinkHost(run) ?? "localhost"
        guard let address = SnapcastServer.Address(text) else {
            throw run.wrong("--server", text, "HOST or HOST:PORT")
        }
        return address
    }

    private static func server(_ run: Invocation) throws(Failure) -> SnapcastServer {
        try SnapcastServer(address(run), seconds: run.timeout() ?? patience)
    }

    /// Host of the daemon's output `snapcast:`; nil: there is no daemon, or it has another output.
    static func sinkHost(_ run: Invocation) -> String? {
        (try? run.call("output.list")).flatMap { ControlAddress(outputs: $0) }?.host
    }

    /// Names of rooms, for completions.
    static func names(_ run: Invocation) throws(Failure) -> [String] {
        try rooms(of: server(run)).map(\.name)
    }

    private static func rooms(of server: SnapcastServer) throws(Failure) -> [Room] {
        Room.all(try server.call("Server.GetStatus")) ?? []
    }

    // MARK: Listing

    private static func list(_ run: Invocation) throws(Failure) {
        let server = try server(run)
        let rooms = try rooms(of: server)
        if run.wantsJSON {
            return run.printJSON(["server": .string(server.address.text), "rooms": .array(rooms.map(\.fullJSON))])
        }
        guard !rooms.isEmpty else {
            return run.output.line("The server has no rooms; start snapclient --host HOST in each.")
        }
        for room in rooms { run.output.line(line(room, in: rooms)) }
    }

    private static func line(_ room: Room, in rooms: [Room]) -> String {
        let number = (rooms.firstIndex(of: room) ?? 0) + 1
        var groups: [String] = []
        for one in rooms where !groups.contains(one.group.id) { groups.append(one.group.id) }
        let place = (groups.firstIndex(of: room.group.id) ?? 0) + 1
        let group = room.group.name.isEmpty ? "group \(place)" : "group “\(TerminalText.safe(room.group.name))”"
        var parts = ["\(room.percent) %"]
        if room.isMuted { parts.append("muted") }
        if room.latency != 0 { parts.append("latency \(room.latency) ms") }
        parts.append(group + (room.group.isMuted ? " (muted)" : ""))
        parts.append("stream “\(TerminalText.safe(room.group.stream))”")
        if !room.isConnected { parts.append("not connected") }
        return "\(number)  \(TerminalText.safe(room.name))  \(parts.joined(separator: ", "))"
    }

    // MARK: Setting

    /// Fails if the server has no such stream: its own refusal names neither this one nor those that it has.
    private static func check(_ stream: String, _ status: JSONValue) throws(Failure) {
        let known = (status["server"]?["streams"]?.arrayValue ?? []).compactMap { $0["id"]?.stringValue }
        guard !known.contains(stream) else { return }
        let names = known.prefix(16).map { "\"\(TerminalText.safe(String($0.prefix(64))))\"" }.joined(separator: ", ")
        throw Failure(
            .noSuchContent,
            "the Snapcast server has no stream \"\(TerminalText.safe(stream))\"; it has \(names.isEmpty ? "none" : names)"
        )
    }

    private static func calls(_ run: Invocation, _ room: Room, _ rooms: [Room]) throws(Failure) -> [RoomChange.Call] {
        var change = RoomChange()
        if run.has("--remove") {
            guard settings.filter(run.has) == ["--remove"] else {
                throw .usage("--remove and other settings exclude each other", verb: "rooms")
            }
            change.isRemoved = true
            guard change.isPossible(room) else {
                let name = TerminalText.safe(room.name)
                throw Failure(
                    .general,
                    "cannot remove \"\(name)\": it is connected to the server; end its snapclient, then try again")
            }
        }
        change.name = run.value("--name")
        if let text = run.value("--latency") {
            guard let latency = Int(text), RoomChange.latencies.contains(latency) else {
                throw run.wrong("--latency", text, "milliseconds from -10000 to 10000")
            }
            change.latency = latency
        }
        change.percent = try percent(run, room)
        change.isMuted = try isOn(run, "--mute")
        if let text = run.value("--join") {
            guard !run.has("--leave") else { throw .usage("--join and --leave exclude each other", verb: "rooms") }
            change.place = .with(try Room.named(text, in: rooms).id)
        }
        if run.has("--leave") {
            guard !run.has("--stream"), !run.has("--mute-group") else {
                throw .usage("--leave makes a group that has no id yet; set it by another command", verb: "rooms")
            }
            change.place = .alone
        }
        change.stream = run.value("--stream")
        change.isGroupMuted = try isOn(run, "--mute-group")
        return change.calls(room, in: rooms) ?? []
    }

    private static func percent(_ run: Invocation, _ room: Room) throws(Failure) -> Int? {
        guard let text = run.value("--volume") else { return nil }
        let digits = text.hasSuffix("%") ? text.dropLast() : text[...]
        guard let number = Int(digits), (-100...100).contains(number) else {
            throw run.wrong("--volume", text, "0 to 100, or a change such as +5 or -5")
        }
        let isChange = text.hasPrefix("+") || text.hasPrefix("-")
        return max(0, min(100, isChange ? room.percent + number : number))
    }

    private static func isOn(_ run: Invocation, _ option: String) throws(Failure) -> Bool? {
        guard let text = run.value(option) else { return nil }
        guard text == "on" || text == "off" else { throw run.wrong(option, text, "on or off") }
        return text == "on"
    }
}
