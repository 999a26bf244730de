import AudioCore
import NowPlaying

/// The published state of the output.
extension Publisher {
    /// Published state of the output; nil: no device.
    var outputStatus: OutputStatus? {
        guard let device = player.output.device else { return nil }
        let latency = player.playout.audible?.timing.map { $0.latency }
        // A flow makes the device run, although the last reading may be older.
        let runs = device.state == .idle && player.wantsFlow && player.playout.audible.map { !$0.isCorked } ?? false
        return OutputStatus(
            name: device.name, description: device.description,
            state: (runs ? .running : device.state).rawValue, latency: latency,
            delay: player.outputDelay, uncertainty: device.uncertainty, sampleRate: device.format?.sampleRate,
            bitPerfect: fidelity(at: device))
    }

    /// Changes of the item's samples on their way to the device; nil: no item.
    func fidelity(at device: OutputDevice) -> Fidelity? {
        guard let lane = player.playout.audible, let link = player.playout.decoding.link(of: shownTicket),
            let opened = link.opened
        else { return nil }
        if opened.rate != 1 { return .changed(.rate) }
        if let gain = link.gain, gain.factor != 1 { return .changed(.loudness) }
        let volume = player.volume
        if !player.output.isVolumeNeutral || volume.level != 1 || volume.isMuted { return .changed(.volume) }
        return Fidelity(of: lane.format, bits: opened.mediaFormat.bitsPerSample, at: device)
    }
}
