import Glibc

/// Volume of this player at the sound server, without loudness and fades, which change the samples.
struct VolumeSetting: Equatable {
    /// 0 to 1, on the server's cubic scale.
    var level = 1.0
    var isMuted = false

    /// Amplitude factor of a gain in dB.
    static func factor(ofDecibels decibels: Double) -> Double { pow(10, decibels / 20) }
}
