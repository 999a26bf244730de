/// Reaction of play to the loss of its device.
package enum OutputLostPolicy: String, Sendable, CaseIterable {
    /// Pause: a listener that unplugs headphones expects no sound from the loudspeaker.
    case pause
    /// Stall, and resume when the device is back.
    case wait
    /// Continue on the device that the server chooses.
    case follow
}
