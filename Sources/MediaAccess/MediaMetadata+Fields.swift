package import ControlProtocol
package import NowPlaying

extension MediaMetadata {
    /// Metadata from these fields of an item (`Catalogue.itemFields`), which were checked before; ignores others.
    package init(fields: JSONObject) {
        self.init()
        for member in fields.members {
            let value = member.value
            switch member.name {
            case "title": title = value.stringValue
            case "subtitle": subtitle = value.stringValue
            case "artist": artist = value.stringValue
            case "artists": artists = value.arrayValue?.compactMap(\.stringValue) ?? []
            case "albumTitle": albumTitle = value.stringValue
            case "albumArtist": albumArtist = value.stringValue
            case "composer": composer = value.stringValue
            case "genre": genre = value.stringValue
            case "trackNumber": trackNumber = value.integerValue.map { Int($0) }
            case "trackCount": trackCount = value.integerValue.map { Int($0) }
            case "discNumber": discNumber = value.integerValue.map { Int($0) }
            case "discCount": discCount = value.integerValue.map { Int($0) }
            case "releaseDate": releaseDate = value.stringValue
            case "isrc": isrc = value.stringValue
            case "description": summary = value.stringValue
            case "contentRating": contentRating = value.stringValue
            case "isExplicit": isExplicit = value.boolValue
            case "isLiveStream": isLiveStream = value.boolValue
            case "defaultRate": defaultRate = value.doubleValue
            case "duration": duration = value.doubleValue
            case "artworkUrl": artworkURL = value.stringValue
            case "animatedArtwork":
                animatedArtwork = value.objectValue?.members.reduce(into: [:]) { $0[$1.name] = $1.value.stringValue }
            case "mediaType": mediaType = value.stringValue.flatMap(MediaType.init)
            case "chapters":
                chapters = value.arrayValue?.compactMap { chapter in
                    chapter["start"]?.doubleValue.map { Chapter(start: $0, title: chapter["title"]?.stringValue) }
                }.sorted { $0.start < $1.start }
            case "texts":
                texts = value.arrayValue?.compactMap { text in
                    guard let key = text["key"]?.stringValue.flatMap(LocalizedText.Key.init),
                        let language = text["language"]?.stringValue, let value = text["value"]?.stringValue
                    else { return nil }
                    return LocalizedText(key: key, language: language, value: value)
                }
            case "adTimeRanges":
                adTimeRanges = value.arrayValue?.compactMap { range in
                    guard let start = range["start"]?.doubleValue, let duration = range["duration"]?.doubleValue else {
                        return nil
                    }
                    return AdTimeRange(start: start, duration: duration)
                }.sorted { $0.start < $1.start }
            default: break
            }
        }
    }
}
