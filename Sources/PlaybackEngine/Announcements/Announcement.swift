package import AudioCore
import LinuxSystem

/// Effect of an announcement on the current item.
package enum AnnouncementPolicy: String, Sendable, CaseIterable {
    /// The item continues at a lower volume.
    case duck
    /// The item is held and resumes afterwards.
    case pause
    /// Audiobooks and podcasts are held; everything else continues at a lower volume.
    case pauseSpoken
    /// The item continues unchanged.
    case mix
}

/// A sound to be played once over the current item.
package struct Announcement: Sendable {
    package var source: MediaSource
    package var policy: AnnouncementPolicy
    /// Gain of the current item during it in dB, 0 or less.
    package var duckTo: Double
    /// Duration of the fade to that gain in seconds.
    package var attack: Double
    /// Duration of the fade back in seconds.
    package var release: Double
    /// 0…1 on the cubic scale of volumes; nil: that of the player.
    package var volume: Double?
    /// The waiting announcement with the highest priority is next.
    package var priority: Int
    /// Maximum duration in seconds.
    package var limit: Double

    /// An announcement, by its parts.
    package init(
        source: MediaSource, policy: AnnouncementPolicy = .duck, duckTo: Double = -20, attack: Double = 0.1,
        release: Double = 0.5, volume: Double? = nil, priority: Int = 0, limit: Double = 120
    ) {
        self.source = source
        self.policy = policy
        self.duckTo = duckTo
        self.attack = attack
        self.release = release
        self.volume = volume
        self.priority = priority
        self.limit = limit
    }
}

/// Result of an announcement that played.
package struct AnnouncementOutcome: Equatable, Sendable {
    /// Played duration in seconds.
    package var seconds: Double
    /// True if it exceeded its maximum duration.
    package var isCut: Bool
}

/// Failure of an announcement.
package enum AnnouncementRefusal: Error, Equatable, Sendable {
    /// No device can play it; reason in words.
    case noDevice(String)
    /// It cannot be decoded; reason in words.
    case undecodable(uri: String, message: String)
    /// The maximum number of announcements waits.
    case tooMany(limit: Int)
}

/// Callback of an announcement's sender; called once with the result.
package typealias AnnouncementAnswer = @PlayerLoop (Result<AnnouncementOutcome, AnnouncementRefusal>) -> Void
