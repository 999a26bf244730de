package import AudioCore
import LinuxSystem
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

    package func outputShifted(by seconds: Double, from time: MonotonicTime) {
        publisher.shift(by: seconds, from: time.advanced(bySeconds: outputDelay))
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

    /// Name of the device that plays, or that the next play uses; nil: the server's default.
    package var currentOutput: String? { outputs.current }

    /// Delays of all outputs.
    package var outputDelays: OutputDelays { parts.delays }

    /// Seconds of latency of the present output that the sound server does not report.
    var outputDelay: Double { parts.delays.delay(of: output.device?.name ?? "") }

    /// Skews of devices, as this and earlier runs measured them.
    package var deviceSkews: DeviceSkews { parts.skews }

    /// Skew of the present device; nil: it is not known.
    var knownSkew: KnownSkew? {
        parts.skews.skew(of: output.device?.clock, at: WallClock.time(of: EventLoop.now))
    }

    /// Publishes the delay of the present output with a new anchor, if it changed.
    package func outputDelaysChanged(by: Originator) {
        guard let published = publisher.state.output?.delay, published != outputDelay else { return }
        playout.publishDelay(by: by)
    }
}
