import NowPlaying

/// Reason why a change of alarms is impossible.
package enum AlarmRefusal: Error, Hashable, Sendable {
    /// No alarm has this name.
    case noSuchAlarm(String)
    /// The time of this date has come.
    case isOver(LocalTime)
    /// All alarms that there can be exist.
    case full(limit: Int)
    /// The user has all alarms that one user can have.
    case userIsFull(limit: Int)
    /// No alarm rings or snoozes.
    case nothingRings

    /// The reason in words, without control characters.
    package var message: String {
        switch self {
        case .noSuchAlarm(let name):
            "no alarm has the name “\(PrintableText.escaped(name, limit: 60))”; list them with alarm"
        case .isOver(let time): "\(time.text) has passed; choose a later date"
        case .full(let limit): "there are \(limit) alarms already, the maximum; delete one"
        case .userIsFull(let limit): "you have \(limit) alarms already, the maximum; delete one"
        case .nothingRings: "no alarm rings"
        }
    }
}
