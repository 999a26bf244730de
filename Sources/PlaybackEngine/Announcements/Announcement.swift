package import AudioCore
import LinuxSystem

/// What an announcement does to what plays.
package enum AnnouncementPolicy: String, Sendable, CaseIterable {
    /// It plays on, quietly.
    case duck
    /// It is held, and goes on afterwards.
    case pause
    /// Audiobooks and podcasts are held, everything else plays on quietly.
    case pauseSpoken
    /// It plays on as it is.
    case mix
}

/// Something to be heard once over whatever plays, and how.
package struct Announcement: Sendable {
    package var source: MediaSource
    package var policy: AnnouncementPolicy
    /// dB by which what plays gets quieter, 0 or less.
    package var duckTo: Double
    /// Seconds in which it gets quiet.
    package var attack: Double
    /// Seconds in which it is as loud as before.
    package var release: Double
    /// 0…1 on the cubic scale of volumes; nil: as loud as what plays.
    package var volume: Double?
    /// Of those that wait the highest is next.
    package var priority: Int
    /// Seconds after which it is cut off.
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

/// How an announcement ended that was heard.
package struct AnnouncementOutcome: Equatable, Sendable {
    /// Seconds of it that were heard.
    package var seconds: Double
    /// Whether it was longer than it may be.
    package var isCut: Bool
}

/// Why an announcement was not heard, or not to its end.
package enum AnnouncementRefusal: Error, Equatable, Sendable {
    /// Nothing is there that it could be heard on; in words.
    case noDevice(String)
    /// It is nothing that plays; in words.
    case undecodable(uri: String, message: String)
    /// As many wait as may.
    case tooMany(limit: Int)
}

/// Who asked hears once how it went.
package typealias AnnouncementAnswer = @PlayerLoop (Result<AnnouncementOutcome, AnnouncementRefusal>) -> Void
