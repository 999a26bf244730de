package import AudioCore
package import NowPlaying

/// Reports of the output.
extension Player: AudioOutputDelegate {
    package func outputConnectionChanged(_ error: OutputError?) {
        outputs.connectionChanged(error)
        announcer.serverChanged(error)
    }

    package func outputDeviceChanged(_ device: OutputDevice?, _ reason: RouteReason?) {
        outputs.deviceChanged(device, reason)
    }

    package func outputDeviceAppeared() { outputs.deviceAppeared() }

    package func outputInterrupted(by name: String) { interruptions.programPlays(name) }

    package func outputInterruptionEnded() { interruptions.programPlays(nil) }

    package func outputVolumeChanged(_ volume: Double, muted: Bool) {
        let new = VolumeSetting(level: volume, isMuted: muted)
        guard new != self.volume else { return }
        setVolume(new)
        publisher.publish(.volume)
    }

    /// A client chose this device.
    package func outputSelected(_ name: String) { outputs.selected(name) }

    /// Delays of all outputs.
    package var outputDelays: OutputDelays { parts.delays }

    /// Seconds by which the present output is heard later than the sound server says.
    var outputDelay: Double { parts.delays.delay(of: output.device?.name ?? "") }

    /// Publishes the delay of the present output with a new anchor, if it changed.
    package func outputDelaysChanged(by: Originator) {
        guard let published = state.output?.delay, published != outputDelay else { return }
        playout.publishDelay(by: by)
    }

    /// Published state of the output; nil: no device.
    var outputStatus: OutputStatus? {
        guard let device = output.device else { return nil }
        let latency = playout.audible?.timing.map { $0.latency }
        // A flow makes the device run, although the last reading may be older.
        let runs = device.state == .idle && wantsFlow && playout.audible.map { !$0.isCorked } ?? false
        return OutputStatus(
            name: device.name, description: device.description,
            state: (runs ? .running : device.state).rawValue, latency: latency,
            delay: outputDelay, sampleRate: device.format?.sampleRate, bitPerfect: fidelity(at: device))
    }

    /// Changes of the item's samples on their way to the device; nil: no item.
    func fidelity(at device: OutputDevice) -> Fidelity? {
        guard let lane = playout.audible, let link = playout.decoding.link(of: publisher.shownTicket),
            let opened = link.opened
        else { return nil }
        if opened.rate != 1 { return .changed(.rate) }
        if let gain = link.gain, gain.factor != 1 { return .changed(.loudness) }
        if !output.isVolumeNeutral || volume.level != 1 || volume.isMuted { return .changed(.volume) }
        return Fidelity(of: lane.format, bits: opened.mediaFormat.bitsPerSample, at: device)
    }
}
