import BridgeRuntime
import ControlProtocol
import LinuxSystem
import NowPlaying
import NowPlayingClient

/// Calls from the bus, from the message to the answer.
extension MediaPlayerBridge {
    /// Maximum bytes of a uri: a path of 4 KiB of which every byte is encoded.
    private static let maximumURI = 3 * 4096

    /// A call whose sender was judged.
    struct Call {
        let message: BusMessage
        let bus: BusConnection
        let rights: SenderRights

        /// Answers the call.
        @PlayerLoop func reply(_ values: BusValue...) {
            bus.reply(to: message) { answer in for value in values { answer.append(value) } }
        }

        /// Answers the call with an error.
        @PlayerLoop func refuse(_ name: BusError.Name, _ words: String) {
            // The words may contain text of the caller.
            bus.refuse(message, BusError(name, PrintableText.escaped(words)))
        }
    }

    /// Judges the sender of a call, and then serves the call or refuses it.
    func called(_ message: BusMessage, _ bus: BusConnection) {
        judge.judge(message, bus) { [weak self] rights in
            guard let self else { return }
            let call = Call(message: message, bus: bus, rights: rights)
            guard rights.role != nil else {
                return call.refuse(
                    .accessDenied, "permission denied; only members of the bridge's groups can use the player")
            }
            // The admission precedes the answer, so the sender misses no later signal.
            receivers.admit(message.sender, bus)
            serve(call)
        }
    }

    /// Serves and answers a call whose sender was judged.
    func serve(_ call: Call) {
        let message = call.message
        switch (message.interface, message.member) {
        case (Introspection.introspectable, "Introspect"), ("", "Introspect"):
            call.reply(.string(Introspection.document))
        case (Introspection.properties, _), ("", "Get"), ("", "GetAll"), ("", "Set"): property(call)
        case (Introspection.root, "Raise"), (Introspection.root, "Quit"), ("", "Raise"), ("", "Quit"):
            // CanRaise and CanQuit are false: by the specification, the call then does nothing.
            if takes(call, "") { call.reply() }
        case (Introspection.player, _): player(call)
        case (Introspection.trackList, _): trackList(call)
        case ("", "AddTrack"), ("", "RemoveTrack"), ("", "GoTo"), ("", "GetTracksMetadata"): trackList(call)
        case ("", _): player(call)
        case (Introspection.root, _): unknown(call)
        default: call.refuse(.unknownInterface, "unknown interface \(message.interface) here")
        }
    }

    /// `org.mpris.MediaPlayer2.Player`.
    private func player(_ call: Call) {
        if let command = RemoteCommand.allCases.first(where: { $0.traits.busMethod == call.message.member }) {
            return plain(call, command.rawValue)
        }
        switch call.message.member {
        case "Seek": seek(call)
        case "SetPosition": setPosition(call)
        case "OpenUri":
            guard takes(call, "s"), let uri = uri(call) else { return }
            command(call, "play", ["uri": .string(uri)])
        default: unknown(call)
        }
    }

    private func plain(_ call: Call, _ method: String) {
        if takes(call, "") { command(call, method) }
    }

    /// Forward past the end starts the next track; backward past the start goes to the start. MPRIS and the protocol agree.
    private func seek(_ call: Call) {
        guard takes(call, "x"), let offset = call.message.readInt64() else { return }
        guard offset != 0 else { return call.reply() }
        command(
            call, offset > 0 ? "skipForward" : "skipBackward",
            ["interval": .number(TimeLimit.bounded(Double(offset.magnitude) / 1_000_000))])
    }

    /// Sets the position. MPRIS requires that a position outside the track, or of another track, is ignored.
    private func setPosition(_ call: Call) {
        guard takes(call, "ox"), let path = call.message.readText("o"), let offset = call.message.readInt64() else {
            return
        }
        guard let id = TrackPath.id(path), id == state?.itemID, offset >= 0 else { return call.reply() }
        let position: JSONValue = .number(TimeLimit.bounded(Double(offset) / 1_000_000))
        command(call, "changePlaybackPosition", ["position": position, "itemId": .integer(id)]) { error in
            ["otherItem", "outOfRange"].contains(error["data"]?["reason"]?.stringValue ?? "")
        }
    }

    // MARK: To the daemon

    /// Runs a method of the daemon with the rights of the sender, and answers the call at the end. `isForgiven`: true for an
    /// error of the daemon that counts as success.
    func command(
        _ call: Call, _ method: String, _ parameters: JSONValue = [:],
        isForgiven: @escaping @PlayerLoop (JSONValue) -> Bool = { _ in false }
    ) {
        guard let role = call.rights.role, role >= .control else {
            return call.refuse(.accessDenied, "this user can read, but not control the player")
        }
        guard state != nil else { return call.refuse(.failed, "the daemon is not running") }
        guard beginCall() else {
            return call.refuse(.limitsExceeded, "too many calls are waiting for the daemon")
        }
        let caller: @PlayerLoop (JSONValue?) -> Void = { [weak self] answer in
            self?.endCall()
            guard let answer else { return call.refuse(.failed, "the daemon has ended before it answered") }
            guard let error = answer["error"], !isForgiven(error) else { return call.reply() }
            call.bus.refuse(call.message, DaemonRefusal.error(error))
        }
        if call.rights.isForeign {
            restricted.call(method, parameters, caller)
        } else {
            daemon.call(method, parameters, caller)
        }
    }

    // MARK: Arguments

    /// True if the arguments have these types; refuses the call otherwise.
    func takes(_ call: Call, _ signature: String) -> Bool {
        if call.message.has(signature: signature) { return true }
        let wanted = signature.isEmpty ? "no arguments" : "arguments of the types “\(signature)”"
        call.refuse(.invalidArguments, "\(call.message.member) needs \(wanted)")
        return false
    }

    /// Reads an argument that is a uri; refuses the call if its length is invalid.
    func uri(_ call: Call) -> String? {
        guard let text = call.message.readText(), !text.isEmpty, text.utf8.count <= Self.maximumURI else {
            call.refuse(.invalidArguments, "a uri has 1 to \(Self.maximumURI) bytes")
            return nil
        }
        return text
    }

    /// Refuses a call of an unknown method.
    func unknown(_ call: Call) {
        call.refuse(.unknownMethod, "unknown method \(call.message.member) here")
    }
}
