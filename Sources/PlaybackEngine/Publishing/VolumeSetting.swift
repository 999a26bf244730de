import Glibc

/// The volume of what we play, as the sound server has it: without loudness and fades, which are in the samples.
struct VolumeSetting: Equatable {
    /// 0 to 1, on the server's cubic scale.
    var level = 1.0
    var isMuted = false

    /// The factor of samples for a gain in dB.
    static func factor(ofDecibels decibels: Double) -> Double { pow(10, decibels / 20) }
}
