/// The reaction of play when its device goes away.
package enum OutputLostPolicy: String, Sendable, CaseIterable {
    /// Pause: who takes the headphones off wants no sound from the loudspeaker.
    case pause
    /// Stand, and resume when the device is back.
    case wait
    /// Continue on the device that the server has then.
    case follow
}
