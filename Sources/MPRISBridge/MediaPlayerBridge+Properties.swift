import ControlProtocol
import LinuxSystem
import NowPlaying
import NowPlayingClient

/// `org.freedesktop.DBus.Properties`.
extension MediaPlayerBridge {
    /// Answers a call of this interface, at once or after an answer of the daemon.
    func property(_ call: Call) {
        switch call.message.member {
        case "Get":
            guard takes(call, "ss"), let interface = interface(call), let name = call.message.readText() else { return }
            values(call, interface, only: name) { values in
                guard let value = values[name] else {
                    return call.refuse(.unknownProperty, "\(interface) has no property \(name)")
                }
                call.bus.reply(to: call.message) { $0.appendVariant(value) }
            }
        case "GetAll":
            guard takes(call, "s"), let interface = interface(call) else { return }
            values(call, interface) { call.reply(.dictionary($0)) }
        case "Set":
            guard takes(call, "ssv"), let interface = interface(call), let name = call.message.readText() else {
                return
            }
            set(call, interface, name)
        default: unknown(call)
        }
    }

    /// Reads the name of an interface; refuses the call if the object has no interface of that name.
    private func interface(_ call: Call) -> String? {
        let name = call.message.readText() ?? ""
        let own = [Introspection.root, Introspection.player, Introspection.trackList]
        if own.contains(name) { return name }
        call.refuse(.unknownInterface, "unknown interface \(name) here")
        return nil
    }

    /// Calls `then` with the present properties of an interface; with `name`, at least that one.
    private func values(
        _ call: Call, _ interface: String, only name: String? = nil,
        _ then: @escaping @PlayerLoop (BusDictionary) -> Void
    ) {
        if interface == Introspection.root {
            return then(PlayerProperties.root(schemes: MediaTypes.schemes, types: MediaTypes.all))
        }
        guard let state else { return call.refuse(.failed, "the daemon is not running") }
        guard interface == Introspection.trackList else {
            var values = properties(of: state)
            values["Position"] = .int64(TrackMetadata.microseconds(state.position(at: EventLoop.now) ?? 0) ?? 0)
            values["CanControl"] = .bool(true)
            return then(values)
        }
        // A request for another property alone does not make the bridge follow the queue.
        guard name == nil || name == "Tracks" else { return then(["CanEditTracks": .bool(true)]) }
        tracks.refresh(state) { [weak self] _ in
            then(["Tracks": .paths(self?.tracks.paths ?? []), "CanEditTracks": .bool(true)])
        }
    }

    // MARK: Setting

    private func set(_ call: Call, _ interface: String, _ name: String) {
        switch (interface, name) {
        case (Introspection.player, "Volume"):
            guard let volume: Double = value(call, "d", { $0.readDouble() }) else { return }
            guard !volume.isNaN else { return call.refuse(.invalidArguments, "the volume is not a number") }
            setVolume(call, max(0, min(1, volume)))
        case (Introspection.player, "Rate"):
            guard let rate: Double = value(call, "d", { $0.readDouble() }) else { return }
            setRate(call, rate)
        case (Introspection.player, "LoopStatus"):
            guard let status: String = value(call, "s", { $0.readText() }) else { return }
            guard let mode = PlayerProperties.repeatMode(status) else {
                return call.refuse(.invalidArguments, "LoopStatus is None, Track or Playlist")
            }
            if mode == state?.text("repeatMode") { return call.reply() }
            command(call, "changeRepeatMode", ["mode": .string(mode)])
        case (Introspection.player, "Shuffle"):
            guard let isOn: Bool = value(call, "b", { $0.readBool() }) else { return }
            if let state, isOn == PlayerProperties.isShuffled(state) { return call.reply() }
            command(call, "changeShuffleMode", ["mode": isOn ? "items" : "off"])
        case (Introspection.root, "Fullscreen"): call.refuse(.notSupported, "the player has no window")
        default:
            values(call, interface, only: name) { values in
                if values[name] == nil {
                    call.refuse(.unknownProperty, "\(interface) has no property \(name)")
                } else {
                    call.refuse(.propertyReadOnly, "\(name) is read-only")
                }
            }
        }
    }

    /// Sets the volume and unmutes, as MPRIS has no other way to unmute.
    private func setVolume(_ call: Call, _ volume: Double) {
        let unmutes = volume > 0 && state?.isMuted == true
        command(
            call, "volume.set", unmutes ? ["volume": .number(volume), "muted": false] : ["volume": .number(volume)])
    }

    /// Sets the rate. A rate of 0 pauses.
    private func setRate(_ call: Call, _ rate: Double) {
        guard rate.isFinite else { return call.refuse(.invalidArguments, "the rate is not a number") }
        if rate == 0 { return command(call, "pause") }
        if let state, rate == PlayerProperties.rate(state) { return call.reply() }
        command(call, "changePlaybackRate", ["rate": .number(rate)])
    }

    /// Reads the value to set; refuses the call if the value has another type.
    private func value<T>(_ call: Call, _ type: String, _ read: (BusMessage) -> T?) -> T? {
        guard call.message.enter("v", type), let value = read(call.message) else {
            call.refuse(.invalidArguments, "the property takes a value of the type “\(type)”")
            return nil
        }
        call.message.leave()
        return value
    }
}
