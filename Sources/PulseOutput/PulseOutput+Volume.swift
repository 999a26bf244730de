import AudioCore
import CPulse
import LinuxSystem

extension PulseOutput {
    package func setVolume(_ volume: Double, muted: Bool) {
        volumeControl.wish(volume, muted: muted)
        for stream in streams { applyVolume(to: stream) }
    }

    package var isVolumeNeutral: Bool { volumeControl.isNeutral }

    /// Sets the requested volume of a stream, unless the stream has it from its start or is not ready.
    func applyVolume(to stream: PulseStream) {
        guard let connection, let index = stream.index, let volume = volumeControl.wishedVolume,
            let muted = volumeControl.wishedMuted
        else { return }
        guard stream.volumeWish != volumeControl.wishes else { return }
        stream.volumeApplied(volumeControl.wishes)
        var channels = PulseVolume.channels(stream.format.channels.count, volume)
        let context = connection.context
        change { pa_context_set_sink_input_volume(context, index, &channels, contextSucceeded, $0) }
        change { pa_context_set_sink_input_mute(context, index, muted ? 1 : 0, contextSucceeded, $0) }
    }

    private func change(_ start: (UnsafeMutableRawPointer) -> OpaquePointer?) {
        guard let connection else { return }
        volumeControl.sent()
        connection.send(start) { [weak self] _ in
            guard let self, self.connection === connection else { return }
            volumeControl.acknowledged()
        }
    }

    /// Requests the volume of a stream that has changed somehow: the server reports each cork so.
    func readVolumeSoon(of stream: PulseStream) {
        connection?.whenCalm { [weak self, weak stream] in
            if let stream { self?.readVolume(of: stream) }
        }
    }

    /// Requests the stream's volume, and reports a change. `isFirst`: the stream has just been made.
    func readVolume(of stream: PulseStream, isFirst: Bool = false) {
        guard let connection, let index = stream.index else { return }
        connection.send(
            owner: stream,
            { pa_context_get_sink_input_info(connection.context, index, sinkInputInfoArrived, $0) },
            { [weak self] result in
                guard let self, case .success(let answers) = result else { return }
                guard case .sinkInput(let info)? = answers.first else { return }
                // PipeWire reports 0 until it knows the volume; the real volume follows as a change.
                if isFirst, info.volume == 0, server?.isPipeWire == true { return }
                // A request for silence also mutes our stream meanwhile, without a user's request.
                let isSilenced = stream.isAskedToCork
                let muted = isSilenced ? volumeControl.known?.muted ?? false : info.isMuted
                let wasNeutral = volumeControl.isNeutral
                if !isSilenced { volumeControl.setNeutral(info.isNeutral) }
                if let news = volumeControl.reported(info.volume, muted: muted) {
                    delegate?.outputVolumeChanged(news.volume, muted: news.muted)
                } else if wasNeutral != volumeControl.isNeutral {
                    // A change above 100 % or in the balance, which our volume does not show.
                    delegate?.outputDeviceChanged(device, nil)
                }
            })
    }
}
