import ControlProtocol
import NowPlayingClient

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
            ],
            examples: [
                ("rooms", "list them"), ("rooms Kitchen --volume 40", "set one"),
                ("rooms Bath --join Kitchen", "the same music in both"),
                ("rooms 2 --latency 120", "its television needs 120 ms"),
            ], arity: 0...1, run: Rooms.run)
    ]
}

/// `rooms`.
enum Rooms {
    /// Seconds for each answer of the server, unless `--timeout` says otherwise.
    static let patience = 5.0

    private static let settings = [
        "--volume", "--mute", "--latency", "--name", "--join", "--leave", "--stream", "--mute-group",
    ]

    /// Lists the rooms, or sets one.
    static func run(_ run: Invocation) throws(Failure) {
        let isSetting = settings.contains(where: run.has)
        guard let word = run.words.first?.text else {
            guard !isSetting else { throw .usage("no room given; see: nowplayingctl rooms", verb: "rooms") }
            return try list(run)
        }
        let server = try server(run)
        let rooms = Room.all(try server.call("Server.GetStatus"))
        let room = try Room.named(word, in: rooms)
        guard isSetting else {
            if run.wantsJSON { return run.printJSON(room.json) }
            return run.output.line(line(room, in: rooms))
        }
        // All values are read before the first is set.
        for call in try calls(run, room, rooms) {
            let result = try server.call(call.method, call.parameters)
            if run.wantsJSON { run.printJSON(result) }
        }
    }

    /// The server that the command line or the daemon's output names.
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

    /// Host of the daemon's output `snapcast:`; nil: there is no daemon, or it plays elsewhere.
    static func sinkHost(_ run: Invocation) -> String? {
        let outputs = (try? run.call("output.list"))?["outputs"]?.arrayValue ?? []
        let output = outputs.first { $0["name"] == "snapcast" }
        let prefix = "Snapcast at "
        guard let text = output?["description"]?.stringValue, text.hasPrefix(prefix) else { return nil }
        // The port there is that of the source.
        return SnapcastServer.Address(String(text.dropFirst(prefix.count)))?.host
    }

    /// Names of rooms, for completions.
    static func names(_ run: Invocation) throws(Failure) -> [String] {
        Room.all(try server(run).call("Server.GetStatus")).map(\.name)
    }

    // MARK: Listing

    private static func list(_ run: Invocation) throws(Failure) {
        let server = try server(run)
        let rooms = Room.all(try server.call("Server.GetStatus"))
        if run.wantsJSON {
            return run.printJSON(["server": .string(server.address.text), "rooms": .array(rooms.map(\.json))])
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

    private struct Call {
        let method: String
        let parameters: JSONValue
    }

    private static func calls(_ run: Invocation, _ room: Room, _ rooms: [Room]) throws(Failure) -> [Call] {
        var calls: [Call] = []
        let client = JSONObject([.init("id", .string(room.id))])
        func add(_ method: String, _ object: JSONObject, _ name: String, _ value: JSONValue) {
            var object = object
            object[name] = value
            calls.append(Call(method: method, parameters: .object(object)))
        }
        if let name = run.value("--name") { add("Client.SetName", client, "name", .string(name)) }
        if let text = run.value("--latency") {
            guard let latency = Int(text), (-10_000...10_000).contains(latency) else {
                throw run.wrong("--latency", text, "milliseconds from -10000 to 10000")
            }
            add("Client.SetLatency", client, "latency", .integer(Int64(latency)))
        }
        if run.has("--volume") || run.has("--mute") {
            let volume: JSONValue = [
                "percent": .integer(Int64(try percent(run, room))),
                "muted": .bool(try isOn(run, "--mute") ?? room.isMuted),
            ]
            add("Client.SetVolume", client, "volume", volume)
        }
        var group = room.group
        if let text = run.value("--join") {
            guard !run.has("--leave") else { throw .usage("--join and --leave exclude each other", verb: "rooms") }
            group = try Room.named(text, in: rooms).group
            if !group.members.contains(room.id) {
                let members = (group.members + [room.id]).map { JSONValue.string($0) }
                add("Group.SetClients", JSONObject([.init("id", .string(group.id))]), "clients", .array(members))
            }
        }
        if run.has("--leave") {
            guard !run.has("--stream"), !run.has("--mute-group") else {
                throw .usage("--leave makes a group that has no id yet; set it by another command", verb: "rooms")
            }
            let rest = group.members.filter { $0 != room.id }.map { JSONValue.string($0) }
            if !rest.isEmpty {
                add("Group.SetClients", JSONObject([.init("id", .string(group.id))]), "clients", .array(rest))
            }
        }
        let object = JSONObject([.init("id", .string(group.id))])
        if let stream = run.value("--stream") { add("Group.SetStream", object, "stream_id", .string(stream)) }
        if let isOn = try isOn(run, "--mute-group") { add("Group.SetMute", object, "mute", .bool(isOn)) }
        return calls
    }

    private static func percent(_ run: Invocation, _ room: Room) throws(Failure) -> Int {
        guard let text = run.value("--volume") else { return room.percent }
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
