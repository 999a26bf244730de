import AudioCore
import LinuxSystem
import NowPlaying

/// Recovers from the loss of the sound server or the device, from a suspended device and from a change of the device. Decides
/// where sound resumes, and when to try again.
@PlayerLoop final class OutputRecovery {
    private unowned let player: Player
    private var output: any AudioOutput { player.output }
    private let devices: DeviceNews

    /// Last reported device.
    private var device: OutputDevice?
    /// The device that a client has chosen, until a stream is on it or goes elsewhere.
    private var choice: String?
    /// Set while sound is requested and its device is missing or suspended.
    private var loss: Loss?
    /// Instant of the last loss.
    private var lastLoss: MonotonicTime?
    /// Fires when a device that returned counts as steady.
    private var deviceReturn: EventSource?
    /// Reason of the route if a new stream opens on another device.
    private var absence = RouteReason.serverBack
    private var retry: EventSource?
    private var retryDelay = OutputRecovery.firstRetryDelay
    private var serverWatch: AnyObject?

    /// Loss of the device of the audible sound, or its suspension, while sound is requested.
    private struct Loss {
        enum Kind { case gone, asleep }
        var kind: Kind
        var time: MonotonicTime
        /// True if the device was lost a moment before, too.
        var isRepeated: Bool
    }

    /// Delay of the first new attempt at a lost server in seconds.
    private static let firstRetryDelay = 0.2
    /// Longest delay between two attempts in seconds; each delay is twice the previous one.
    static let longestRetryDelay = 30.0
    /// A device that is lost again within this number of seconds flaps. It must then stay for `steadiness` seconds.
    private static let flapping = 10.0
    private static let steadiness = 1.5

    /// Before any loss.
    init(_ player: Player) {
        self.player = player
        devices = DeviceNews(player)
    }

    /// True while sound is requested and its device is missing or suspended.
    var awaitsDevice: Bool { loss != nil }

    /// True while a change of the device is recent: an event with a new anchor follows, or readings have to settle.
    var deviceIsNew: Bool { devices.isRecent }

    /// Name of the device that plays, or that the next stream uses; nil: the server's default.
    var current: String? { choice ?? output.device?.name ?? output.selectedDevice }

    /// Notes an event about devices.
    func noteNews() { devices.note() }

    // MARK: The server

    /// Connects to the server if sound is requested and there is no connection.
    func connectIfNeeded() {
        if !output.isConnected { output.connect() }
    }

    /// Handles a connection that succeeded (nil), failed or broke.
    func connectionChanged(_ error: OutputError?) {
        if let error { return serverFailed(error) }
        retryDelay = Self.firstRetryDelay
        stopRetrying()
        loss = nil
        player.playout.openStreams()
        if player.playout.pending == nil { comeBack() }
    }

    /// Handles a server or device that is lost or does not answer. Keeps the position and restores it later.
    func serverFailed(_ error: OutputError) {
        let reason: StallReason
        switch error.kind {
        case .noServer: reason = .noServer
        case .serverHung: reason = .serverHung
        case .noDevice, .refused: reason = .noOutput
        }
        let anchor = player.playout.loseStreams()
        if loss?.kind == .asleep { loss = nil }
        absence = error.kind == .noDevice ? .deviceGone : .serverBack
        if error.kind == .noDevice, lostWithStream(at: anchor) { return }
        if reason == .serverHung, output.isConnected {
            output.disconnect()
            // That ends the stream of an announcement without a report.
            player.loop.later { [weak player] in player?.announcer.serverChanged(error) }
        }
        if player.playout.flow.settleSilence(at: anchor) { return }
        player.playout.preparation.standStill(reason, at: anchor)
        scheduleRetry()
    }

    /// Tries again with growing delays while sound is requested. A server that hangs during connecting needs no second
    /// attempt.
    private func scheduleRetry() {
        // A lost device reports its return.
        guard player.transport.wish == .playing, retry == nil, !output.isConnecting, loss == nil else { return }
        if serverWatch == nil { serverWatch = player.parts.watchServer { [unowned self] in tryAgain() } }
        retry = player.loop.deadline(EventLoop.now.advanced(bySeconds: retryDelay)) { [unowned self] in
            retryDelay = min(Self.longestRetryDelay, retryDelay * 2)
            tryAgain()
        }
    }

    /// Searches for lost sound now instead of after `retryDelay`: at the output if it is connected, else by connecting.
    func tryAgain() {
        retry = nil
        guard player.transport.wish == .playing, player.playout.stall != nil else { return }
        if output.isConnected { comeBack() } else { output.connect() }
    }

    /// Resumes at the position of the loss, as the output is back.
    private func comeBack() {
        guard player.transport.wish == .playing, let current = player.transport.current else { return }
        if player.playout.resumption.resume() { return }
        guard player.playout.stall != nil else { return }
        if let pending = player.playout.pending {
            player.playout.preparation.startAgain(pending)
        } else {
            player.playout.preparation.startHere(current, .unstall)
        }
    }

    /// Notes that sound flows: the next loss is tried at once.
    func soundIsBack() { retryDelay = Self.firstRetryDelay }

    /// Cancels all attempts, as no sound is requested.
    func stopRetrying() {
        serverWatch = nil
        retry = nil
    }

    /// Ends all deadlines; for the end of the process.
    func shutDown() {
        retry = nil
        deviceReturn = nil
        devices.shutDown()
    }

    // MARK: Loss of the device

    private func policy(_ device: OutputDevice?) -> OutputLostPolicy {
        player.parts.onOutputLost ?? (device?.isWorn == true ? .pause : .wait)
    }

    /// Handles another device, or a new state of the device.
    func deviceChanged(_ device: OutputDevice?, _ reason: RouteReason?) {
        guard let device else { return }
        let before = self.device
        self.device = device
        // An earlier choice may be reported before the last one.
        let isElsewhere = reason != .selected && (reason != nil || device.name != before?.name)
        if device.name == choice || isElsewhere { choice = nil }
        if before?.clock != device.clock { player.playout.deviceKnown() }
        guard let published = player.publisher.state.output else { return }
        switch reason {
        case .deviceBack? where loss != nil, .selected? where loss != nil: return deviceRegained()
        case .deviceGone?: if lost(before, for: device) { return }
        case .selected, .defaultChanged, .moved, .deviceBack, .serverBack, nil: break
        }
        guard loss == nil else { return }
        let isOtherDevice = published.name != device.name
        devices.publish(isOtherDevice ? Route(from: published.name, to: device.name, reason: reason ?? absence) : nil)
    }

    /// Handles a move to `other` by the server after the device disappeared. True: play does not continue there.
    private func lost(_ device: OutputDevice?, for other: OutputDevice) -> Bool {
        // A pause that is still fading comes first.
        player.fades.pauseNow()
        guard player.transport.wish == .playing, let lane = player.playout.audible, !lane.isDetached else {
            return false
        }
        switch policy(device) {
        case .follow where !other.isDummy: return false
        case .pause:
            player.decide { $0.outputLost() }
            player.playout.flow.holdForLoss(lane) { [player] anchor in
                player.publisher.publish(
                    .route, anchor: anchor, route: Route(from: device?.name, to: other.name, reason: .deviceGone))
            }
        case .wait, .follow:
            note(.gone)
            output.keepToDevice(named: device?.name)
            player.playout.flow.holdForLoss(lane) { [player] anchor in player.playout.setStalled(.noOutput, at: anchor)
            }
        }
        return true
    }

    /// Handles a stream that ended with its device. True: play pauses, and the caller does nothing else.
    private func lostWithStream(at anchor: PlaybackAnchor?) -> Bool {
        guard player.transport.wish == .playing else { return false }
        switch policy(device) {
        case .pause where anchor != nil && device != nil && player.playout.stall == nil:
            player.decide { $0.outputLost() }
            player.publisher.publish(
                .route, anchor: anchor, route: Route(from: device?.name, to: nil, reason: .deviceGone))
            player.answer(player.fades.take())
            return true
        case .follow: output.followDefaultDevice()
        case .pause, .wait: output.keepToDevice(named: device?.name)
        }
        note(.gone)
        return false
    }

    /// Handles a device that was suspended or resumed. True: this stalls the audible stream.
    func suspended(_ suspended: Bool, _ lane: Lane) {
        if !suspended, loss?.kind == .asleep { return deviceIsBack() }
        guard !lane.isCorked, player.transport.wish == .playing else {
            if suspended, loss?.kind == .asleep { deviceReturn = nil }
            return devices.publish(nil)
        }
        // Sound that has not begun waits as before: PulseAudio suspends an idle device for an instant when a stream of
        // another rate is created.
        if lane.isStarting { return suspended ? () : lane.checkStart() }
        guard suspended, player.playout.pending == nil else { return lane.restartClock() }
        let stands = player.playout.flow.holdAsleep(lane)
        note(.asleep)
        player.playout.setStalled(.suspended, at: player.playout.resting(media: stands))
    }

    private func note(_ kind: Loss.Kind) {
        let now = EventLoop.now
        let isRepeated = lastLoss.map { now.seconds(since: $0) < Self.flapping } ?? false
        if loss == nil { lastLoss = now }
        loss = Loss(kind: kind, time: loss?.time ?? now, isRepeated: isRepeated)
        deviceReturn = nil
    }

    /// Forgets the lost device, as play stopped or continues elsewhere.
    func forgetLoss() {
        guard loss != nil else { return }
        loss = nil
        deviceReturn = nil
        output.keepToDevice(named: nil)
    }

    // MARK: Return of the device

    /// Handles the return of the lost device, or of any device after the last one disappeared.
    func deviceAppeared() {
        if loss?.kind == .gone { deviceIsBack() }
    }

    /// Resumes, at the earliest a second after the loss. A device that flaps has to stay for a while.
    private func deviceIsBack() {
        guard let loss, player.transport.wish == .playing else { return }
        let earliest = max(
            loss.time.advanced(bySeconds: DeviceNews.interval),
            EventLoop.now.advanced(bySeconds: loss.isRepeated ? Self.steadiness : 0))
        deviceReturn = player.loop.deadline(earliest) { [unowned self] in
            deviceReturn = nil
            resume()
        }
    }

    private func resume() {
        guard let loss, player.transport.wish == .playing else { return }
        devices.note()
        if loss.kind == .gone, player.playout.audible?.hasStream == true, player.playout.pending == nil {
            // The server reports the move; then sound resumes.
            return output.returnToKeptDevice()
        }
        self.loss = nil
        switch loss.kind {
        case .asleep: player.playout.resumption.attachAgain()
        case .gone: tryAgain()
        }
    }

    /// Handles a stream that is on its device again, or on one that a client chose.
    private func deviceRegained() {
        forgetLoss()
        let playout = player.playout
        guard player.wantsFlow, playout.pending == nil, let lane = playout.audible, lane.isReady, lane.isCorked else {
            return
        }
        playout.starvation.flowAgain(lane)
    }

    /// Handles a client's choice of a device. A stream that moves there reports that itself.
    func selected(_ name: String) {
        choice = name
        guard loss != nil, player.transport.wish == .playing else { return }
        if player.playout.audible?.hasStream != true {
            forgetLoss()
            tryAgain()
        } else if device?.name == name {
            deviceRegained()
        }
    }

    /// Plays on the stream's present device, as a user requests sound while a device is missing. False: none is missing.
    func playWithoutLostDevice() -> Bool {
        guard let loss, player.transport.wish == .playing, loss.kind == .gone else { return false }
        deviceRegained()
        return player.playout.audible?.hasStream == true
    }
}
