import CPulse
import NowPlaying

/// The server's volume scale: cubic, 65536 = 100 %, the number that mixers show as percent.
enum PulseVolume {
    /// The server's number for a volume of 0…1.
    static func raw(_ volume: Double) -> UInt32 {
        UInt32(clamping: (min(max(volume, 0), 1) * Double(PA_VOLUME_NORM)).rounded())
    }

    /// The volume, 0…1, for a server's number: the shortest decimal of at most three digits with the same number, so
    /// that 45 % is reported as 0.45. Amplification above 100 % is reported as 1.
    static func value(_ raw: UInt32) -> Double {
        if raw >= PA_VOLUME_NORM { return 1 }
        let exact = Double(raw) / Double(PA_VOLUME_NORM)
        for scale in [10.0, 100, 1000] {
            let short = (exact * scale).rounded() / scale
            if self.raw(short) == raw { return short }
        }
        return exact
    }

    /// The same volume for every channel.
    static func channels(_ count: Int, _ volume: Double) -> pa_cvolume {
        var all = pa_cvolume()
        pa_cvolume_set(&all, UInt32(count), raw(volume))
        return all
    }
}
