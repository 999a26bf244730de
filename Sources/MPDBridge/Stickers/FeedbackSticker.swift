import ControlProtocol
import MPDProtocol
import NowPlaying

/// A sticker of songs that is the daemon's feedback.
enum FeedbackSticker: String, CaseIterable, Sendable {
    /// 0 to 10: half stars.
    case rating
    /// 0 dislike, 1 neither, 2 like.
    case like
    case playCount
    /// Seconds since 1970.
    case lastPlayed

    /// The value in an item of `feedback.get`; nil: there is none.
    func value(ofItem item: JSONValue) -> String? {
        switch self {
        case .rating: item["rating"]?.doubleValue.map { Self.points($0) }
        case .like:
            item["isLiked"]?.boolValue == true ? "2" : item["isDisliked"]?.boolValue == true ? "0" : nil
        case .playCount: item["playCount"]?.integerValue.flatMap { $0 > 0 ? String($0) : nil }
        case .lastPlayed: item["lastPlayed"]?.doubleValue.map { String(Int64(clamping: $0.rounded(.down))) }
        }
    }

    /// The value in a row of the library; nil: there is none.
    func value(ofRow row: JSONValue) -> String? {
        switch self {
        case .rating: row["rating"]?.doubleValue.map { Self.points($0) }
        case .like: row["liked"]?.boolValue.map { $0 ? "2" : "0" }
        case .playCount: row["playCount"]?.integerValue.flatMap { $0 > 0 ? String($0) : nil }
        case .lastPlayed: row["lastPlayed"]?.doubleValue.map { String(Int64(clamping: $0.rounded(.down))) }
        }
    }

    /// The key in rows and filters of the library.
    var field: String { self == .like ? "liked" : rawValue }

    /// The library's filter for songs that have the sticker.
    var filter: JSONValue {
        switch self {
        case .playCount: ["playCount": ["atLeast": 1]]
        case .rating, .like, .lastPlayed: ["not": .object(JSONObject([.init(field, ["missing": true])]))]
        }
    }

    /// Parameters of `feedback.set` for a value; nil removes the value. Throws MPD's message.
    func changes(_ value: String?) throws(MPDFailure) -> [JSONObject.Member] {
        switch self {
        case .rating:
            guard let value else { return [.init("rating", .null)] }
            guard let points = Int(value), (0...10).contains(points) else {
                throw MPDFailure(.argument, "the sticker rating is a number from 0 to 10: \(value)")
            }
            return [.init("rating", .number(Double(points) / 2))]
        case .like:
            switch value {
            case "2"?: return [.init("like", true)]
            case "0"?: return [.init("dislike", true)]
            case "1"?, nil: return [.init("like", false), .init("dislike", false)]
            case let other?: throw MPDFailure(.argument, "the sticker like is 0, 1 or 2: \(other)")
            }
        case .playCount, .lastPlayed:
            throw MPDFailure(.argument, "the daemon keeps the sticker \(rawValue) itself")
        }
    }

    private static func points(_ stars: Double) -> String { String(Int64(clamping: (stars * 2).rounded())) }
}
