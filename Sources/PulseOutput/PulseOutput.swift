package import AudioCore
import CPulse
package import LinuxSystem
package import NowPlaying

/// The sound server of the user: PulseAudio, or PipeWire's server of the same protocol.
///
/// It connects only on demand, never starts a server and does not retry by itself; `ServerWatch` reports when another
/// attempt makes sense. Call `PulseEnvironment.prepare` first.
@PlayerLoop package final class PulseOutput: AudioOutput {
    package weak var delegate: (any AudioOutputDelegate)?
    package private(set) var device: OutputDevice?

    let loop: EventLoop
    let main: PulseMainLoop
    let address: String?
    private(set) var connection: PulseConnection?
    private(set) var server: PulseServerInfo?
    private(set) var streams: [PulseStream] = []
    /// Streams of announcements.
    private(set) var announcements: [PulseStream] = []
    /// The requested device; nil: the server's default.
    private(set) var wishedSink: String?
    /// The server's name for its default sink.
    static let defaultSink = "@DEFAULT_SINK@"
    /// The lost device that is awaited.
    private(set) var keptSink: String? {
        didSet { if keptSink != oldValue { returning = nil } }
    }
    /// The stream that begins on that device.
    private weak var returning: PulseStream?
    /// Reason of a move of our streams that we requested and that has not been reported yet.
    private var askedMove: RouteReason?
    let volumeControl = VolumeControl()
    let neighbours: Neighbours
    package var watchesNeighbours = false {
        didSet {
            guard watchesNeighbours != oldValue else { return }
            neighbours.forget()
            beginWatchingNeighbours()
        }
    }
    /// Mask of the events in our subscription at the server.
    private var subscribed: UInt32 = 0
    /// True if a stream failed with its device and no other was opened since: then the next new device is reported.
    private(set) var awaitsDevice = false
    /// True if a real device was ever in use.
    private(set) var hadDevice = false

    /// An output on this loop, not connected yet. `sinkName`: the device for the streams. `server`: its address
    /// (`unix:/path`, `tcp:host`); nil: from the environment and the user's files. `interrupters`: programs whose
    /// streams interrupt us.
    package init(
        _ loop: EventLoop, server address: String? = nil, sinkName: String? = nil, interrupters: [String] = []
    ) {
        self.loop = loop
        neighbours = Neighbours(programs: interrupters)
        self.address = address
        main = PulseMainLoop(loop)
        wishedSink = sinkName
    }

    package var isConnected: Bool { server != nil }
    package var isConnecting: Bool { connection != nil && server == nil }

    /// True if the server did not answer a request for a second, and has sent nothing since.
    package var isHung: Bool { connection?.isHung ?? false }

    package var oldestQuestion: MonotonicTime? { connection?.oldestQuestion }

    /// The server's name and version; nil: not connected.
    package var serverName: String? { server?.name }

    // MARK: Connection

    package func connect() {
        guard connection == nil else { return }
        guard PulseLibrary.open() else {
            return loop.later { [weak self] in self?.delegate?.outputConnectionChanged(PulseLibrary.missing) }
        }
        let made = PulseConnection(main, server: address)
        connection = made
        made.changed = { [unowned self] in connectionChanged($0) }
        made.subscriptionEvent = { [unowned self] in happened(event: $0, index: $1) }
        made.begin()
    }

    package func disconnect() { drop() }

    private func connectionChanged(_ state: PulseConnection.State) {
        switch state {
        case .connecting: break
        case .hung: delegate?.outputConnectionChanged(.hung)
        case .ready(let info):
            server = info
            delegate?.outputConnectionChanged(nil)
        case .failed(let error):
            drop()
            delegate?.outputConnectionChanged(error)
        }
    }

    /// Drops the connection with all its streams, without reports.
    private func drop() {
        let ended = streams + announcements
        streams = []
        announcements = []
        for stream in ended { stream.end() }
        server = nil
        device = nil
        subscribed = 0
        awaitsDevice = false
        askedMove = nil
        neighbours.forget()
        volumeControl.streamsEnded()
        guard let connection else { return }
        self.connection = nil
        connection.end()
        // libpulse may be in the middle of a callback: keep the object until the next turn.
        loop.later { withExtendedLifetime(connection) {} }
    }

    // MARK: Streams

    /// Opens a stream by the rules of `AudioOutput`.
    package func openStream(
        _ format: AudioFormat, isLive: Bool, delegate: any AudioStreamDelegate
    ) -> any AudioStream {
        let stream = PulseStream(
            self, format, isLive: isLive, delegate: delegate, isPipeWire: server?.isPipeWire ?? false)
        guard let connection, isConnected else {
            stream.failLater(.disconnected)
            return stream
        }
        streams.append(stream)
        stream.volumeApplied(volumeControl.wishes)
        if isWithoutDevice { beginOnDevice(stream, connection) } else { begin(stream, connection) }
        return stream
    }

    /// Begins an opened stream on its device.
    func begin(_ stream: PulseStream, _ connection: PulseConnection) {
        guard let kept = keptSink, kept != Self.defaultSink else {
            return begin(stream, connection, on: keptSink ?? wishedSink)
        }
        // A stream that begins on a device by name stays there when the user selects another default.
        connection.send({ pa_context_get_server_info(connection.context, serverInfoArrived, $0) }) {
            [weak self, weak stream] result in
            guard let self, let stream, self.connection === connection, streams.contains(where: { $0 === stream })
            else { return }
            if case .success(let answers) = result, case .server(let info)? = answers.last { serverKnown(info) }
            let isDefault = wishedSink == nil && server?.defaultSink == keptSink
            if keptSink == kept { returning = stream }
            begin(stream, connection, on: isDefault ? nil : keptSink ?? wishedSink)
        }
    }

    private func begin(_ stream: PulseStream, _ connection: PulseConnection, on sink: String?) {
        stream.begin(
            connection, sink: sink, volume: volumeControl.wishedVolume, muted: volumeControl.wishedMuted)
    }

    package var mixesStreams: Bool { true }

    package func openAnnouncement(_ format: AudioFormat, delegate: any AudioStreamDelegate) -> (any AudioStream)? {
        let stream = PulseStream(
            self, format, isLive: false, isAnnouncement: true, delegate: delegate,
            isPipeWire: server?.isPipeWire ?? false)
        guard let connection, isConnected else {
            stream.failLater(.disconnected)
            return stream
        }
        announcements.append(stream)
        stream.begin(connection, sink: keptSink ?? wishedSink, volume: nil, muted: nil)
        return stream
    }

    /// True: the next new device is reported from now on; false: it is not.
    func setAwaitsDevice(_ awaits: Bool) {
        awaitsDevice = awaits
        subscribe()
    }

    /// Sets the device in use, and reports another device or another state. `reason`: the reason for the device.
    func setDevice(_ known: OutputDevice?, _ reason: RouteReason? = nil) {
        guard known != device || reason != nil else { return }
        device = known
        if known?.isDummy == false { hadDevice = true }
        delegate?.outputDeviceChanged(known, reason)
    }

    /// Applies a suspended or resumed device. The stream's own event follows.
    func suspensionChanged(_ stream: PulseStream) { device?.state = stream.isSuspended ? .suspended : .running }

    package func selectDevice(named name: String?) {
        wishedSink = name
        awaitDevice(nil)
        moveStreams(to: name ?? Self.defaultSink, .selected)
    }

    /// Awaits a lost device by its name, or the server's default sink; nil: none.
    func awaitDevice(_ name: String?) {
        keptSink = name
        subscribe()
    }

    /// Expects a move of our streams that we request, for this reason; nil: the server refused it.
    func expectMove(_ reason: RouteReason?) { askedMove = reason }

    /// Takes the reason of the expected move; nil: no move was expected.
    func takeExpectedMove() -> RouteReason? {
        defer { askedMove = nil }
        return askedMove
    }

    /// Records newer facts about the server.
    func serverKnown(_ info: PulseServerInfo) { server = info }

    /// Drops a closed stream.
    func forget(_ stream: PulseStream) {
        streams.removeAll { $0 === stream }
        announcements.removeAll { $0 === stream }
        subscribe()
    }

    /// Prepares a stream that the server has made: sets the requested volume and requests its device. Ignores
    /// announcements.
    func streamBecameReady(_ stream: PulseStream) {
        if stream.isAnnouncement { return }
        awaitsDevice = false
        // The awaited device is back: streams go to their usual device from now on.
        if returning === stream { keptSink = nil }
        subscribe()
        applyVolume(to: stream)
        readDevice(of: stream)
        readVolume(of: stream, isFirst: true)
        beginWatchingNeighbours()
    }

    /// Handles the failure of a single stream.
    func streamDied(_ stream: PulseStream, _ error: OutputError) {
        streams.removeAll { $0 === stream }
        if stream.isAnnouncement { return announcements.removeAll { $0 === stream } }
        if error.kind == .noDevice {
            awaitsDevice = true
            loop.later { [self] in
                guard awaitsDevice, device != nil else { return }
                setDevice(nil, .deviceGone)
            }
        }
        subscribe()
    }

    // MARK: Subscription

    /// Handles a stream that was uncorked or corked.
    func flowChanged() {
        // The caller asks for the position next.
        loop.later { [weak self] in
            self?.connection?.whenCalm { [weak self] in self?.subscribe() }
        }
    }

    /// Subscribes to the events needed now: our stream's volume while there is a stream, devices while one is awaited
    /// or plays.
    func subscribe() {
        guard let connection, isConnected else { return }
        var wanted: UInt32 = 0
        if streams.contains(where: \.isReady) { wanted |= PA_SUBSCRIPTION_MASK_SINK_INPUT.rawValue }
        if awaitsDevice || (keptSink != nil && keptSink != Self.defaultSink) || streams.contains(where: \.isLetGo) {
            wanted |= PA_SUBSCRIPTION_MASK_SINK.rawValue
        }
        guard wanted != subscribed else { return }
        subscribed = wanted
        connection.send(
            { pa_context_subscribe(connection.context, pa_subscription_mask_t(wanted), contextSucceeded, $0) },
            { _ in })
    }

    private func happened(event: UInt32, index: UInt32) {
        let facility = event & PA_SUBSCRIPTION_EVENT_FACILITY_MASK.rawValue
        let kind = event & PA_SUBSCRIPTION_EVENT_TYPE_MASK.rawValue
        if facility == PA_SUBSCRIPTION_EVENT_SINK_INPUT.rawValue {
            if let stream = streams.last(where: { $0.index == index }) {
                if kind == PA_SUBSCRIPTION_EVENT_CHANGE.rawValue { readVolumeSoon(of: stream) }
            } else {
                neighbourChanged(index, isGone: kind == PA_SUBSCRIPTION_EVENT_REMOVE.rawValue)
            }
        }
        guard facility == PA_SUBSCRIPTION_EVENT_SINK.rawValue else { return }
        if kind == PA_SUBSCRIPTION_EVENT_NEW.rawValue { deviceAppeared(index) }
        if kind == PA_SUBSCRIPTION_EVENT_CHANGE.rawValue, let stream = streams.last(where: { $0.isLetGo }) {
            deviceChanged(index, of: stream)
        }
    }
}
