import AudioCore
import LinuxSystem
import NowPlaying

/// Recovers the output: the sound server or the device went, sleeps, or was changed for another. Decides where sound resumes
/// and when it is tried again.
@PlayerLoop final class OutputRecovery {
    private unowned let player: Player
    private var output: any AudioOutput { player.output }
    private let devices: DeviceNews

    /// The device in use, as it was reported last.
    private var device: OutputDevice?
    /// Set while sound is wanted on a device that is away or asleep.
    private var loss: Loss?
    /// The instant of the last loss.
    private var lastLoss: MonotonicTime?
    /// Fires when the device that is back counts as steady.
    private var deviceReturn: EventSource?
    /// The reason of a route if the device is another one when a stream is opened anew.
    private var absence = RouteReason.serverBack
    private var retry: EventSource?
    private var retryDelay = OutputRecovery.firstRetryDelay
    private var serverWatch: AnyObject?

    /// A device that was played on and is not there, or asleep, while sound is wanted.
    private struct Loss {
        enum Kind { case gone, asleep }
        var kind: Kind
        var time: MonotonicTime
        /// True if it was lost a moment before, too.
        var isRepeated: Bool
    }

    /// Seconds before the first new attempt at a lost server.
    private static let firstRetryDelay = 0.2
    /// Seconds between two attempts, at most; each takes twice as long as the one before.
    static let longestRetryDelay = 30.0
    /// A device that is lost again within so many seconds flaps; then it has to stay for `steadiness` seconds.
    private static let flapping = 10.0
    private static let steadiness = 1.5

    /// Nothing is lost.
    init(_ player: Player) {
        self.player = player
        devices = DeviceNews(player)
    }

    /// True while sound is wanted on a device that is away or asleep.
    var awaitsDevice: Bool { loss != nil }

    /// True while the device was changed just now: an event with a new anchor follows, or readings have to settle.
    var deviceIsNew: Bool { devices.isRecent }

    /// Takes note of an event about devices.
    func noteNews() { devices.note() }

    // MARK: The server

    /// Connects if sound is wanted and there is no connection.
    func connectIfNeeded() {
        if !output.isConnected { output.connect() }
    }

    /// The connection is there (nil), or failed or was lost.
    func connectionChanged(_ error: OutputError?) {
        if let error { return serverFailed(error) }
        retryDelay = Self.firstRetryDelay
        stopRetrying()
        loss = nil
        player.playout.openStreams()
        if player.playout.pending == nil { comeBack() }
    }

    /// The server or its device is gone or does not answer: the position is kept, and found again when it is back.
    func serverFailed(_ error: OutputError) {
        let reason: StallReason
        switch error.kind {
        case .noServer: reason = .noServer
        case .serverHung: reason = .serverHung
        case .noDevice, .refused: reason = .noOutput
        }
        let place = player.playout.loseStreams()
        if loss?.kind == .asleep { loss = nil }
        absence = error.kind == .noDevice ? .deviceGone : .serverBack
        if error.kind == .noDevice, lostWithStream(at: place) { return }
        if reason == .serverHung, output.isConnected { output.disconnect() }
        if player.playout.flow.settleSilence(at: place) { return }
        player.playout.preparation.standStill(reason, at: place)
        scheduleRetry()
    }

    /// Tries again, with growing pauses, as long as sound is wanted. A server that hangs while we connect needs no second
    /// attempt.
    private func scheduleRetry() {
        // A device that went reports its return.
        guard player.transport.wish == .playing, retry == nil, !output.isConnecting, loss == nil else { return }
        if serverWatch == nil { serverWatch = player.parts.watchServer { [unowned self] in tryAgain() } }
        retry = player.loop.deadline(EventLoop.now.advanced(bySeconds: retryDelay)) { [unowned self] in
            retryDelay = min(Self.longestRetryDelay, retryDelay * 2)
            tryAgain()
        }
    }

    /// Looks for lost sound now instead of after `retryDelay`: at the output if it is there, else by connecting.
    func tryAgain() {
        retry = nil
        guard player.transport.wish == .playing, player.playout.stall != nil else { return }
        if output.isConnected { comeBack() } else { output.connect() }
    }

    /// The output is back: resumes where sound was lost.
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

    /// Sound flows again: the next loss is tried at once.
    func soundIsBack() { retryDelay = Self.firstRetryDelay }

    /// Sound is not wanted: nothing is tried.
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

    // MARK: The device goes

    private func policy(_ device: OutputDevice?) -> OutputLostPolicy {
        player.parts.onOutputLost ?? (device?.isWorn == true ? .pause : .wait)
    }

    /// The device in use changed: another one, or its state.
    func deviceChanged(_ device: OutputDevice?, _ reason: RouteReason?) {
        guard let device else { return }
        let before = self.device
        self.device = device
        guard let published = player.state.output else { return }
        switch reason {
        case .deviceBack? where loss != nil, .selected? where loss != nil: return deviceRegained()
        case .deviceGone?: if lost(before, for: device) { return }
        case .selected, .defaultChanged, .moved, .deviceBack, .serverBack, nil: break
        }
        guard loss == nil else { return }
        let isOther = published.name != device.name
        devices.tell(isOther ? Route(from: published.name, to: device.name, reason: reason ?? absence) : nil)
    }

    /// The server moved us to `other`, as the device went away. True: play does not continue there.
    private func lost(_ device: OutputDevice?, for other: OutputDevice) -> Bool {
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

    /// The stream died with its device. True: that is all, play pauses.
    private func lostWithStream(at place: PlaybackAnchor?) -> Bool {
        guard player.transport.wish == .playing else { return false }
        switch policy(device) {
        case .pause where place != nil && device != nil && player.playout.stall == nil:
            player.decide { $0.outputLost() }
            player.publisher.publish(
                .route, anchor: place, route: Route(from: device?.name, to: nil, reason: .deviceGone))
            return true
        case .follow: output.followDefaultDevice()
        case .pause, .wait: output.keepToDevice(named: device?.name)
        }
        note(.gone)
        return false
    }

    /// The device fell asleep or woke. True: the audible stream stands because of it.
    func suspended(_ suspended: Bool, _ lane: Lane) {
        if !suspended, loss?.kind == .asleep { return deviceIsBack() }
        guard !lane.isCorked, player.transport.wish == .playing else {
            if suspended, loss?.kind == .asleep { deviceReturn = nil }
            return devices.tell(nil)
        }
        // Sound that has not begun is waited for as before: PulseAudio suspends an idle device for an instant when a
        // stream of another rate is made.
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

    /// The lost device does not matter any more: play was stopped, or continues elsewhere.
    func forgetLoss() {
        guard loss != nil else { return }
        loss = nil
        deviceReturn = nil
        output.keepToDevice(named: nil)
    }

    // MARK: The device is back

    /// A device that was kept to is there again, or after the last one went, any.
    func deviceAppeared() {
        if loss?.kind == .gone { deviceIsBack() }
    }

    /// Resumes, not before a second after the loss; a device that flaps has to stay for a while.
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
            // The server reports the move back; then sound resumes.
            return output.returnToKeptDevice()
        }
        self.loss = nil
        switch loss.kind {
        case .asleep: player.playout.resumption.attachAgain()
        case .gone: tryAgain()
        }
    }

    /// Our stream is on its device again, or on one that a client chose.
    private func deviceRegained() {
        forgetLoss()
        let playout = player.playout
        guard player.wantsFlow, playout.pending == nil, let lane = playout.audible, lane.isReady, lane.isCorked else {
            return
        }
        playout.starvation.flowAgain(lane)
    }

    /// A client chose this device. A stream that is moved there reports that itself.
    func selected(_ name: String) {
        guard loss != nil, player.transport.wish == .playing else { return }
        if player.playout.audible?.hasStream != true {
            forgetLoss()
            tryAgain()
        } else if device?.name == name {
            deviceRegained()
        }
    }

    /// A user who wants sound while a device is awaited gets it where the stream is now. False: nothing is awaited.
    func playWithoutLostDevice() -> Bool {
        guard let loss, player.transport.wish == .playing, loss.kind == .gone else { return false }
        deviceRegained()
        return player.playout.audible?.hasStream == true
    }
}
