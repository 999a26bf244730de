import ControlProtocol
import NowPlayingClient

extension Pairing {
    /// The devices of `nowplaying-web`.
    static let verbs = [
        Verb(
            name: "pair", summary: "let a phone or another machine use nowplaying-web",
            details: """
                Shows an address, a code and, in a terminal, a QR code, and waits until a device has used the code. The code is
                good for one device. It ends after --seconds, or after ten wrong guesses. --json prints two lines: the code, and
                the outcome.
                """,
            options: [
                Option("--role", value: "read|control", "rights of the device; default: control"),
                Option("--seconds", value: "SECONDS", "life of the code, 1 to 300; default: 300"),
                Option("--no-wait", "print the code and end"),
            ],
            examples: [("pair", "pair a phone"), ("pair --role read", "pair a display on the wall")], run: Pairing.pair),
        Verb(
            name: "devices", synopsis: "[revoke DEVICE]", summary: "list the paired devices, or revoke one",
            details: """
                DEVICE is an id of the list, or a name that one device alone has. A revoked device loses its connections at once.
                """,
            examples: [("devices", "list them"), ("devices revoke 4f6c1d2e3a4b5c6d", "revoke one")], arity: 0...2,
            run: Pairing.devices),
    ]
}

/// `pair` and `devices`.
enum Pairing {
    // MARK: pair

    /// Seconds by which an answer to the wait may be late.
    private static let grace = 10.0

    /// Shows a code, and waits for its use or expiry.
    static func pair(_ run: Invocation) throws(Failure) {
        var parameters = JSONObject()
        if let role = run.value("--role") {
            guard role == "read" || role == "control" else { throw run.wrong("--role", role, "read or control") }
            parameters["role"] = .string(role)
        }
        var seconds = 300.0
        if let text = run.value("--seconds") {
            guard let number = ClockText.decimal(text), (1...300).contains(number) else {
                throw run.wrong("--seconds", text, "a number from 1 to 300")
            }
            seconds = number
        }
        parameters["seconds"] = .number(seconds)
        let calls = try WebCalls(run)
        let begun = try calls.call("pair.begin", .object(parameters))
        run.wantsJSON ? run.printJSON(begun) : show(begun, seconds, run)
        run.output.flush()
        if run.has("--no-wait") { return }
        let end = try calls.call("pair.wait", patience: seconds + grace)
        if run.wantsJSON { run.printJSON(end) }
        switch end["outcome"]?.stringValue {
        case "paired":
            guard !run.wantsJSON else { return }
            let name = TerminalText.safe(end["device"]?["name"]?.stringValue ?? "?")
            let id = TerminalText.safe(end["device"]?["id"]?.stringValue ?? "?")
            run.output.line("Paired “\(name)”. Revoke it: nowplayingctl devices revoke \(id)")
        case "expired": throw Failure(.timeout, "no device used the code in time; for a new one: nowplayingctl pair")
        case "void":
            throw Failure(.general, "ten wrong guesses have ended the code; for a new one: nowplayingctl pair")
        case "replaced": throw Failure(.general, "another nowplayingctl pair has replaced the code")
        case let outcome:
            throw Failure(.general, "nowplaying-web reports \(TerminalText.safe(outcome ?? "nothing")) for the code")
        }
    }

    private static func show(_ begun: JSONValue, _ seconds: Double, _ run: Invocation) {
        let output = run.output
        let addresses = (begun["addresses"]?.arrayValue ?? []).compactMap(\.stringValue).map(TerminalText.safe)
        let code = TerminalText.safe(begun["code"]?.stringValue ?? "")
        if addresses.isEmpty {
            output.line("This machine has no address of a network; set “address” in [web].")
        } else {
            output.line("On the device, open " + addresses.joined(separator: " or "))
        }
        output.line("Code: " + output.styled("\(code.prefix(4)) \(code.dropFirst(4))", .bold))
        let role = TerminalText.safe(begun["role"]?.stringValue ?? "")
        output.line("Role: \(role). The code ends in \(ClockText.clock(seconds)).")
        guard output.isTerminal, output.isUnicode, let url = begun["url"]?.stringValue, let symbol = QRCode(url),
            symbol.columns <= output.columns
        else { return }
        output.line("")
        for line in symbol.lines(hasColours: output.hasColours) { output.line(line) }
        output.line("")
    }

    // MARK: devices

    /// Lists the devices, or revokes one.
    static func devices(_ run: Invocation) throws(Failure) {
        guard let word = run.words.first?.text else { return try list(run) }
        guard word == "revoke" else {
            throw .usage(
                "devices needs no argument or \"revoke DEVICE\", not \"\(run.words[0].shown)\"", verb: "devices")
        }
        guard run.words.count > 1 else {
            throw .usage("no device given; see: nowplayingctl devices", verb: "devices")
        }
        let calls = try WebCalls(run)
        let wanted = run.words[1].text
        let devices = (try calls.call("devices.list"))["devices"]?.arrayValue ?? []
        let named = devices.filter { $0["name"]?.stringValue == wanted }
        let exact = devices.first { $0["id"]?.stringValue == wanted }
        guard let device = exact ?? (named.count == 1 ? named.first : Optional.none), let id = device["id"] else {
            let shown = TerminalText.safe(wanted)
            let words =
                named.isEmpty
                ? "no device \"\(shown)\"" : "\(named.count) devices have the name \"\(shown)\"; use an id"
            throw Failure(.noSuchContent, words + "; see: nowplayingctl devices")
        }
        let result = try calls.call("devices.revoke", ["id": id])
        if run.wantsJSON { return run.printJSON(result) }
        run.output.line("Revoked “\(TerminalText.safe(device["name"]?.stringValue ?? ""))”.")
    }

    private static func list(_ run: Invocation) throws(Failure) {
        let result = try WebCalls(run).call("devices.list")
        if run.wantsJSON { return run.printJSON(result) }
        let devices = result["devices"]?.arrayValue ?? []
        if devices.isEmpty { run.output.line("No devices. Pair one: nowplayingctl pair") }
        for device in devices {
            func text(_ name: String) -> String { TerminalText.safe(device[name]?.stringValue ?? "") }
            let used = CalendarText.day(device["lastUsed"]?.doubleValue ?? 0)
            let name = run.output.styled(text("name"), .bold)
            run.output.line("\(text("id"))  \(text("role").padded(to: 7))  last used \(used)  \(name)")
        }
    }

    /// The ids of all devices.
    static func ids(_ run: Invocation) throws(Failure) -> [String] {
        (try WebCalls(run).call("devices.list")["devices"]?.arrayValue ?? []).compactMap { $0["id"]?.stringValue }
    }
}

extension String {
    /// The text, padded with spaces to this many columns.
    fileprivate func padded(to columns: Int) -> String {
        self + String(repeating: " ", count: max(0, columns - TerminalText.width(of: self)))
    }
}
