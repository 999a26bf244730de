package import AudioCore
import LinuxSystem
package import NowPlaying

/// What happens when the device that is played on goes away.
package enum OutputLostPolicy: String, Sendable, CaseIterable {
    /// Pause: who took the headphones off wants no sound from the loudspeaker.
    case pause
    /// Stand, and go on when the device is back.
    case wait
    /// Go on with the device that the server has then.
    case follow
}

/// A device that was played on and is not there, or asleep, while sound is wanted.
struct DeviceLoss {
    /// Asleep at the server, rather than gone.
    var isSuspension: Bool
    var time: MonotonicTime
    /// Whether it was lost a moment before, too.
    var isRepeated: Bool
}

/// Devices that go, come back, fall asleep, or are changed for another.
extension Player {
    /// Seconds between two events about devices, at least.
    private static let deviceNewsInterval = 1.0
    /// A device lost again within so many seconds flaps; then it has to stay for so many until it is believed.
    private static let flapping = 10.0
    private static let steadiness = 1.5

    private func policy(_ device: OutputDevice?) -> OutputLostPolicy {
        parts.onOutputLost ?? (device?.isWorn == true ? .pause : .wait)
    }

    package func outputDeviceChanged(_ device: OutputDevice?, _ reason: RouteReason?) {
        guard let device else { return }
        let before = self.device
        self.device = device
        guard let told = state.output else { return }
        switch reason {
        case .deviceBack? where loss != nil: return deviceRegained()
        case .selected? where loss != nil: return deviceRegained()
        case .deviceGone?: if lost(before, for: device) { return }
        default: break
        }
        guard loss == nil else { return }
        let isOther = told.name != device.name
        tellDevice(isOther ? Route(from: told.name, to: device.name, reason: reason ?? absence) : nil)
    }

    /// The server moved us to `other`, as the device went away. True: we do not go on there.
    private func lost(_ device: OutputDevice?, for other: OutputDevice) -> Bool {
        guard transport.wish == .playing, let lane = audible, !lane.isDetached else { return false }
        switch policy(device) {
        case .follow where !other.isDummy: return false
        case .pause:
            transport.outputLost()
            cork(lane) { [self] anchor in
                publish(
                    .route, anchor: anchor, route: Route(from: device?.name, to: other.name, reason: .deviceGone))
            }
        case .wait, .follow:
            noteLoss(isSuspension: false)
            output.keepToDevice(named: device?.name)
            cork(lane) { [self] anchor in setStalled(.noOutput, at: anchor) }
        }
        return true
    }

    /// The stream died with its device. True: that is all, we pause.
    func lostWithStream(at place: PlaybackAnchor?) -> Bool {
        guard transport.wish == .playing else { return false }
        switch policy(device) {
        case .pause where place != nil && device != nil && stall == nil:
            transport.outputLost()
            publish(.route, anchor: place, route: Route(from: device?.name, to: nil, reason: .deviceGone))
            return true
        case .follow: output.followDefaultDevice()
        case .pause, .wait: output.keepToDevice(named: device?.name)
        }
        noteLoss(isSuspension: false)
        return false
    }

    /// Stops the flow; `held` gets the anchor of where it stands.
    private func cork(_ lane: Lane, _ held: @escaping @PlayerLoop (PlaybackAnchor) -> Void) {
        guard let stream = lane.stream, !lane.isCorked, pending == nil else {
            return held(stoppedAnchor(at: EventLoop.now))
        }
        boundary = nil
        markDeadline = nil
        starvation = nil
        lane.isCorked = true
        lane.onStarted = nil
        stream.setCorked(true) { _ in }
        lane.readTiming { [weak self] result in
            guard let self else { return }
            guard case .success(let timing) = result else {
                // The server went, too: nobody else tells where it stands.
                return stall == nil ? held(stoppedAnchor(at: EventLoop.now)) : ()
            }
            lane.note(timing)
            held(heldAnchor(lane, timing))
        }
    }

    // MARK: Asleep

    package func streamSuspended(_ stream: any AudioStream, _ suspended: Bool) {
        guard let lane = audible, lane.stream === stream else { return }
        if !suspended, loss?.isSuspension == true { return deviceIsBack() }
        guard !lane.isCorked, transport.wish == .playing else {
            if suspended, loss?.isSuspension == true { deviceReturn = nil }
            return tellDevice(nil)
        }
        // Sound that has not begun is waited for as before: PulseAudio suspends an idle device for an instant when a
        // stream of another rate is made.
        if let start = lane.onStarted { return suspended ? () : start() }
        guard suspended, pending == nil else { return lane.clock.restart() }
        // What the device had taken and not played is gone: from here on it is sent anew.
        let frame = nextFrame(lane, at: EventLoop.now) ?? Int64(clamping: heldFrame(lane).rounded())
        let place = lane.timeline.place(at: Double(frame))
        lane.standsAt = frame
        lane.isCorked = true
        lane.clock.restart()
        boundary = nil
        markDeadline = nil
        starvation = nil
        stream.setCorked(true) { _ in }
        noteLoss(isSuspension: true)
        let stands = lane.format.seconds(frames: Int64(clamping: (place?.itemFrame ?? 0).rounded()))
        setStalled(.suspended, at: resting(media: stands))
    }

    // MARK: Back

    private func noteLoss(isSuspension: Bool) {
        let now = EventLoop.now
        let isRepeated = lastLoss.map { now.seconds(since: $0) < Player.flapping } ?? false
        if loss == nil { lastLoss = now }
        loss = DeviceLoss(isSuspension: isSuspension, time: loss?.time ?? now, isRepeated: isRepeated)
        deviceReturn = nil
    }

    /// What was lost does not matter any more: play was stopped, or goes on elsewhere.
    func forgetLoss() {
        guard loss != nil else { return }
        loss = nil
        deviceReturn = nil
        output.keepToDevice(named: nil)
    }

    package func outputDeviceAppeared() {
        if loss?.isSuspension == false { deviceIsBack() }
    }

    /// Goes on, not before a second after the loss; a device that flaps has to stay for a while.
    private func deviceIsBack() {
        guard let loss, transport.wish == .playing else { return }
        let now = EventLoop.now
        let earliest = max(
            loss.time.advanced(bySeconds: Player.deviceNewsInterval),
            now.advanced(bySeconds: loss.isRepeated ? Player.steadiness : 0))
        deviceReturn = loop.deadline(earliest) { [unowned self] in
            deviceReturn = nil
            goOn()
        }
    }

    private func goOn() {
        guard let loss, transport.wish == .playing else { return }
        lastDeviceNews = EventLoop.now
        if !loss.isSuspension, audible?.stream != nil, pending == nil {
            // The move back is told; then sound goes on.
            return output.returnToKeptDevice()
        }
        self.loss = nil
        if loss.isSuspension { attachAgain() } else { tryAgain() }
    }

    /// Our stream is on its device again, or on one that a client chose.
    private func deviceRegained() {
        forgetLoss()
        guard wantsFlow, pending == nil, let lane = audible, lane.isReady, lane.isCorked else { return }
        flowAgain(lane)
    }

    /// A client chose this device. What is moved there says so itself.
    package func outputSelected(_ name: String) {
        guard loss != nil, transport.wish == .playing else { return }
        if audible?.stream == nil {
            forgetLoss()
            tryAgain()
        } else if device?.name == name {
            deviceRegained()
        }
    }

    /// A user who wants sound while a device is waited for gets it where the stream is now. False: nothing is waited for.
    func playWithoutLostDevice() -> Bool {
        guard let loss, transport.wish == .playing else { return false }
        if loss.isSuspension { return false }
        deviceRegained()
        return audible?.stream != nil
    }

    // MARK: Telling

    /// Whether the device was changed just now: an event with a new anchor follows, or readings have to settle.
    var deviceIsNew: Bool {
        if deviceNews != nil { return true }
        return lastDeviceNews.map { EventLoop.now.seconds(since: $0) < Player.deviceNewsInterval } ?? false
    }

    /// Tells of the device as it is now, at most once a second. `route`: it is another one.
    private func tellDevice(_ route: Route?) {
        if let route { untoldRoute = Route(from: untoldRoute?.from ?? route.from, to: route.to, reason: route.reason) }
        guard deviceNews == nil else { return }
        let due = lastDeviceNews?.advanced(bySeconds: Player.deviceNewsInterval) ?? EventLoop.now
        guard due > EventLoop.now else { return publishDevice() }
        deviceNews = loop.deadline(due) { [unowned self] in publishDevice() }
    }

    private func publishDevice() {
        deviceNews = nil
        let route = untoldRoute
        untoldRoute = nil
        guard let route, route.from != route.to else {
            guard let told = state.output, let now = output.device else { return }
            let isOtherwise = state.state == .playing && interruption == nil && told.bitPerfect != fidelity(at: now)
            guard told.state != now.state.rawValue || isOtherwise else { return }
            lastDeviceNews = EventLoop.now
            return publish(.outputs)
        }
        lastDeviceNews = EventLoop.now
        guard wantsFlow, pending == nil, flow == nil, let lane = audible, !lane.isCorked, lane.onStarted == nil else {
            return publish(.route, route: route)
        }
        lane.readTiming { [weak self] result in
            guard let self else { return }
            guard case .success(let timing) = result, lane === audible, timing.isPlaying, stall == nil else {
                return publish(.route, route: route)
            }
            lane.note(timing)
            publish(.route, anchor: flowingAnchor(lane, timing), route: route)
            scheduleBoundary()
        }
    }
}
