import ControlProtocol
import NowPlayingClient

/// Metadata of a track with MPRIS's names and types. Specification: MPRIS v2 metadata guidelines.
enum TrackMetadata {
    /// The metadata of an item of the state or of the queue; nil gives the metadata of no track.
    /// `picture`: the path of the item's picture, if it is known.
    static func of(_ item: JSONValue?, picture: String? = nil) -> BusDictionary {
        guard let item, let id = item["id"]?.integerValue else { return ["mpris:trackid": .path(TrackPath.none)] }
        var result: BusDictionary = ["mpris:trackid": .path(TrackPath.of(id))]
        if item["isLiveStream"]?.boolValue != true {
            result["mpris:length"] = item["duration"]?.doubleValue.flatMap(microseconds).map(BusValue.int64)
        }
        let address = BusText.uri(picture) ?? BusText.pictureURI(item["artworkUrl"]?.stringValue)
        result["mpris:artUrl"] = address.map(BusValue.string)
        result["xesam:url"] = BusText.uri(item["uri"]?.stringValue).map(BusValue.string)
        result["xesam:title"] = title(item).map(BusValue.string)
        result["xesam:artist"] = artists(item).map(BusValue.strings)
        result["xesam:album"] = text(item, "albumTitle").map(BusValue.string)
        result["xesam:albumArtist"] = text(item, "albumArtist").map { .strings([$0]) }
        result["xesam:composer"] = text(item, "composer").map { .strings([$0]) }
        result["xesam:genre"] = text(item, "genre").map { .strings([$0]) }
        result["xesam:comment"] = text(item, "description").map { .strings([$0]) }
        result["xesam:trackNumber"] = number(item, "trackNumber")
        result["xesam:discNumber"] = number(item, "discNumber")
        result["xesam:useCount"] = number(item, "playCount")
        result["xesam:userRating"] = item["rating"]?.doubleValue.map { .double(max(0, min(1, $0 / 5))) }
        result["xesam:contentCreated"] = date(text(item, "releaseDate")).map(BusValue.string)
        return result
    }

    /// Seconds as microseconds; nil: they do not fit.
    static func microseconds(_ seconds: Double) -> Int64? {
        Int64(exactly: (seconds * 1_000_000).rounded())
    }

    private static func title(_ item: JSONValue) -> String? {
        text(item, "title") ?? item["uri"]?.stringValue.flatMap { BusText.clean(StateView.name(ofURI: $0)) }
    }

    private static func artists(_ item: JSONValue) -> [String]? {
        let listed = item["artists"]?.arrayValue?.compactMap { BusText.clean($0.stringValue) } ?? []
        return listed.isEmpty ? text(item, "artist").map { [$0] } : listed
    }

    private static func text(_ item: JSONValue, _ name: String) -> String? { BusText.clean(item[name]?.stringValue) }

    private static func number(_ item: JSONValue, _ name: String) -> BusValue? {
        item[name]?.integerValue.flatMap(Int32.init(exactly:)).map(BusValue.int32)
    }

    /// A date of ISO 8601 with the known precision; nil: the text is not a date.
    private static func date(_ text: String?) -> String? {
        guard let text else { return nil }
        let pattern = "0000-00-00".prefix(text.count)
        let isDate = zip(text, pattern).allSatisfy { $1 == "-" ? $0 == "-" : $0.isASCII && $0.isNumber }
        return isDate && [4, 7, 10].contains(text.count) ? text : nil
    }
}
