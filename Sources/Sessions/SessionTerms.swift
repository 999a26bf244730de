import ControlProtocol
import ControlServer
import DaemonConfiguration
import NowPlaying
import PlaybackEngine

/// Effect of a session on the others while it plays, and its visibility.
struct SessionTerms: Equatable, Sendable {
    var policy = AnnouncementPolicy.pause
    /// dB to which the others are ducked; nil: the configuration decides.
    var duckTo: Double?
    /// Seconds of the fades of the others; nil: the configuration decides.
    var ramp: Double?
    /// True: visible to all. False: visible only to clients that name it, and never active.
    var publishes = true

    /// Terms, by their parts.
    init(_ policy: AnnouncementPolicy = .pause, duckTo: Double? = nil, ramp: Double? = nil, publishes: Bool = true) {
        self.policy = policy
        self.duckTo = duckTo
        self.ramp = ramp
        self.publishes = publishes
    }

    /// Terms of a session that a client creates.
    init(_ request: MethodRequest) {
        self.init(
            request.string("policy").flatMap(AnnouncementPolicy.init) ?? .pause, duckTo: request.double("duckTo"),
            ramp: request.double("ramp"), publishes: request.bool("publishes") ?? true)
    }

    /// Levels and fades of the others while this session plays.
    func demand(_ usual: SessionSettings) -> DuckingDemand {
        DuckingDemand(
            policy: policy, duckTo: duckTo ?? usual.duckTo, attack: ramp ?? usual.attack,
            release: ramp ?? usual.release)
    }
}

/// Demands of an audible session or announcement on the others.
struct DuckingDemand: Equatable, Sendable {
    var policy: AnnouncementPolicy
    /// dB.
    var duckTo: Double
    /// Seconds of the fade down.
    var attack: Double
    /// Seconds of the fade back.
    var release: Double

    /// The demands in words for the log.
    var words: String { "\(policy.rawValue), \(duckTo) dB in \(attack) s, back in \(release) s" }
}

/// The user that created a lasting session without the rights of the daemon's own user, and that may close it.
struct SessionMaker: Equatable, Sendable {
    /// The number of the user.
    let uid: UInt32

    /// A user by number.
    init(uid: UInt32) { self.uid = uid }

    /// The user of a client; nil: the client has the rights of the daemon's own user.
    init?(_ client: ClientIdentity) {
        guard client.role != .admin else { return nil }
        uid = client.uid
    }
}

/// A session in the list for the next start: a line of text with its policy and name, and words for terms that differ
/// from the defaults.
struct SavedSession: Equatable, Sendable {
    var name: String
    var terms: SessionTerms
    /// True if it was the active session.
    var isActive = false
    /// The user without the daemon's own rights that created the session; nil: the daemon's own user did.
    var maker: SessionMaker?

    /// The line, without its end.
    var line: String {
        var words = [terms.policy.rawValue, name]
        if let duckTo = terms.duckTo { words.append("duckTo=\(duckTo)") }
        if let ramp = terms.ramp { words.append("ramp=\(ramp)") }
        if !terms.publishes { words.append("unpublished") }
        if isActive { words.append("active") }
        if let maker { words.append("maker=\(maker.uid)") }
        return words.joined(separator: " ")
    }

    /// A session, by its parts.
    init(name: String, terms: SessionTerms, isActive: Bool = false, maker: SessionMaker? = nil) {
        self.name = name
        self.terms = terms
        self.isActive = isActive
        self.maker = maker
    }

    /// True for a valid name of a session, which also names its folder.
    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 64 && name != "." && name != ".."
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// A session from its line; nil: the line has no policy, or no valid name. Unknown words are skipped.
    init?(line: some StringProtocol) {
        let words = line.split(separator: " ")
        guard words.count >= 2, let policy = AnnouncementPolicy(rawValue: String(words[0])) else { return nil }
        name = String(words[1])
        guard Self.isName(name) else { return nil }
        terms = SessionTerms(policy)
        for word in words.dropFirst(2) {
            let parts = word.split(separator: "=", maxSplits: 1)
            switch parts.first {
            case "duckTo"?: terms.duckTo = parts.last.flatMap { Double($0) }
            case "ramp"?: terms.ramp = parts.last.flatMap { Double($0) }
            case "unpublished"?: terms.publishes = false
            case "active"?: isActive = true
            case "maker"?: maker = parts.last.flatMap { UInt32($0) }.map { SessionMaker(uid: $0) }
            default: break
            }
        }
    }
}

extension Announcement {
    /// Its demand on the playback.
    var demand: DuckingDemand { DuckingDemand(policy: policy, duckTo: duckTo, attack: attack, release: release) }
}
