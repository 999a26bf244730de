package import ControlProtocol
package import NowPlaying

/// Writes a published state in the format of the protocol: top-level keys are always present, inner ones without a
/// value are left out.
package struct StateEncoder: Sendable {
    /// Identity of this boot of the host: positions on CLOCK_MONOTONIC are valid only within it.
    private let bootID: String

    /// An encoder for states of this boot (`/proc/sys/kernel/random/boot_id`).
    package init(bootID: String) { self.bootID = bootID }

    /// The state as JSON text.
    package func encode(_ state: NowPlayingState) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2048)
        var writer = JSONWriter(bytes)
        write(state, to: &writer)
        return writer.bytes
    }

    private func write(_ state: NowPlayingState, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("session", state.session)
        writer.member("seq", state.sequence)
        writer.member("instance", state.instance)
        writer.member("cause", state.cause.rawValue)
        writer.key("reason")
        if let reason = state.reason?.rawValue ?? state.route?.reason.rawValue {
            writer.string(reason)
        } else {
            writer.null()
        }
        writer.nullable("by", state.by) { writer, by in
            writer.member("client", by.client)
            writer.member("pid", Int(by.pid))
            writer.member("uid", Int(by.uid))
            writer.member("via", by.via)
        }
        writer.member("state", state.state.rawValue)
        writer.nullable("stall", state.stall) { writer, stall in
            writer.member("reason", stall.rawValue)
            writer.member("since", state.stallTimes?.since)
            writer.member("nextTry", state.stallTimes?.nextTry)
        }
        writer.nullable("pending", state.pending) { writer, pending in
            writer.member("state", pending.state.rawValue)
            if let item = pending.itemID { writer.member("itemId", Int(item.number)) }
            writer.member("position", pending.position)
            writer.key("monotonic")
            writer.seconds(pending.monotonic)
            writer.member("wall", pending.wall)
        }
        writer.nullable("interruption", state.interruption) { writer, interruption in
            writer.member("by", interruption.by)
            writer.member("shouldResume", interruption.shouldResume)
        }
        writer.nullable("route", state.route) { writer, route in
            writer.key("from")
            if let from = route.from { writer.string(from) } else { writer.null() }
            writer.key("to")
            if let to = route.to { writer.string(to) } else { writer.null() }
            writer.member("reason", route.reason.rawValue)
        }
        writer.nullable("activeChanged", state.activeChanged) { writer, change in
            writer.member("from", change.from)
            writer.member("to", change.to)
            writer.member("why", change.why.rawValue)
        }
        writer.nullable("ad", state.state == .stopped ? nil : state.anchor.ad) { writer, ad in
            writer.member("index", ad.index)
            if let ends = ad.ends {
                writer.key("endsMonotonic")
                writer.seconds(ends)
            }
        }
        writer.key("anchor")
        anchor(state.anchor, to: &writer)
        writer.nullable("item", state.item, StateEncoder.item)
        writer.nullable("upcoming", state.upcoming) { writer, upcoming in
            writer.member("itemId", Int(upcoming.itemID.number))
            writer.member("title", upcoming.title)
            writer.member("artist", upcoming.artist)
            if let instant = upcoming.instant {
                writer.key("monotonic")
                writer.seconds(instant.monotonic)
                writer.member("wall", instant.wall)
            }
        }
        writer.key("queue")
        writer.beginObject()
        writer.key("index")
        if let index = state.queueIndex { writer.integer(index) } else { writer.null() }
        writer.member("count", state.queueCount)
        writer.member("version", state.queueVersion)
        writer.member("revision", state.queueRevision)
        if let changes = state.queueChanges {
            writer.member("from", changes.from)
            Self.edits(&writer, changes.changes)
        }
        writer.endObject()
        writer.member("commandsVersion", state.commandsVersion)
        for mode in state.modes.words { writer.member(mode.name, mode.word) }
        writer.member("volume", state.volume)
        writer.member("muted", state.muted)
        writer.key("loudness")
        Self.loudness(&writer, state.loudness)
        writer.key("crossfade")
        Self.crossfade(&writer, state.crossfade)
        writer.member("fadeIn", state.fades.fadeIn)
        writer.member("fadeOut", state.fades.fadeOut)
        writer.nullable("sleep", state.sleep, Self.sleep)
        writer.nullable("output", state.output, Self.output)
        writer.nullable("error", state.error) { writer, error in
            writer.member("itemId", Int(error.itemID.number))
            writer.member("uri", error.uri)
            writer.member("status", error.status)
            writer.member("message", error.message)
            writer.member("count", error.count)
            writer.member("code", error.code.rawValue)
            writer.member("reason", error.message)
            writer.member("at", error.position)
        }
        writer.endObject()
    }

    private static func output(_ writer: inout JSONWriter, _ output: OutputStatus) {
        writer.member("name", output.name)
        writer.member("description", output.description)
        writer.member("state", output.state)
        writer.member("latency", output.latency)
        writer.member("delay", output.delay)
        writer.member("uncertainty", output.uncertainty)
        writer.member("sampleRate", output.sampleRate)
        if let fidelity = output.bitPerfect {
            writer.key("bitPerfect")
            writer.beginObject()
            writer.member("value", fidelity == .exact)
            writer.member("reason", fidelity.reason)
            writer.endObject()
        }
    }

    /// The end of playback by the sleep timer, as members of an object.
    static func sleep(_ writer: inout JSONWriter, _ sleep: SleepStatus) {
        if let time = sleep.time {
            writer.key("endsMonotonic")
            writer.seconds(time)
            writer.member("endsWall", sleep.wall)
        } else {
            writer.member("endOf", "item")
        }
        writer.member("fade", sleep.fade)
    }

    /// Loudness normalisation as an object.
    static func loudness(_ writer: inout JSONWriter, _ loudness: LoudnessStatus) {
        writer.beginObject()
        writer.member("mode", loudness.mode.rawValue)
        writer.member("preamp", loudness.preamp)
        writer.member("gain", loudness.gain)
        writer.member("basis", loudness.basis?.rawValue)
        writer.endObject()
    }

    /// Crossfade as an object.
    static func crossfade(_ writer: inout JSONWriter, _ crossfade: CrossfadeSettings) {
        writer.beginObject()
        writer.member("seconds", crossfade.seconds)
        writer.endObject()
    }

    /// The anchor alone, for answers of commands.
    package func anchor(_ anchor: PlaybackAnchor, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("elapsed", anchor.elapsed)
        writer.member("rate", anchor.rate)
        writer.member("defaultRate", anchor.defaultRate)
        writer.member("skew", anchor.skew)
        writer.key("monotonic")
        writer.seconds(anchor.monotonic)
        writer.member("wall", anchor.wall)
        writer.member("wallSynced", anchor.wallSynced)
        writer.member("bootId", bootID)
        writer.endObject()
    }

    private static func item(_ writer: inout JSONWriter, _ item: NowPlayingItem) {
        writer.member("id", Int(item.id.number))
        writer.member("play", item.play)
        writer.member("uri", item.uri)
        metadata(&writer, item.metadata)
        chapters(&writer, item.metadata.chapters ?? [], limit: listLimit)
        writer.member("chapterIndex", item.chapterIndex)
        adTimeRanges(&writer, item.metadata.adTimeRanges ?? [], limit: listLimit)
        writer.member("duration", item.duration)
        if let feedback = item.feedback { Self.feedback(&writer, feedback) }
        artwork(&writer, item.artwork)
        format(&writer, item.format)
    }

    /// The format of a file, as a member of the object that was begun; nothing if it is unknown.
    static func format(_ writer: inout JSONWriter, _ format: MediaFormat?) {
        guard let format else { return }
        writer.key("format")
        writer.beginObject()
        writer.member("codec", format.codec)
        writer.member("sampleRate", format.sampleRate)
        writer.member("channels", format.channels)
        writer.member("bitsPerSample", format.bitsPerSample)
        writer.member("bitRate", format.bitRate)
        writer.endObject()
    }

    /// Feedback about an item, as members of the current object.
    static func feedback(_ writer: inout JSONWriter, _ feedback: Feedback) {
        writer.member("isLiked", feedback.isLiked)
        writer.member("isDisliked", feedback.isDisliked)
        writer.member("rating", feedback.rating)
        writer.member("bookmark", feedback.bookmark)
        writer.member("playCount", feedback.playCount)
        writer.member("skipCount", feedback.skipCount)
        writer.member("lastPlayed", feedback.lastPlayed)
    }

    /// The pictures of an item, as a member of the object that was begun; nothing if there are none.
    static func artwork(_ writer: inout JSONWriter, _ pictures: [Artwork]) {
        guard !pictures.isEmpty else { return }
        writer.key("artwork")
        writer.beginArray()
        for picture in pictures {
            writer.beginObject()
            writer.member("id", picture.id)
            writer.member("kind", picture.kind.rawValue)
            if picture.isFetched {
                writer.member("aspect", picture.aspect)
                writer.member("width", picture.width)
                writer.member("height", picture.height)
                writer.member("type", picture.mediaType)
            }
            writer.endObject()
        }
        writer.endArray()
    }

    /// Chapters and ranges in a state, at most. A state with longer lists has only their number
    /// (nowplayingd-protocol(7)).
    static let listLimit = 50

    /// The chapters of an item, as a member of the object that was begun; nothing if there are none.
    static func chapters(_ writer: inout JSONWriter, _ chapters: [Chapter], limit: Int?) {
        list("chapters", chapters, limit: limit, to: &writer) { writer, chapter in
            writer.member("start", chapter.start)
            writer.member("title", chapter.title)
        }
    }

    /// The advertisements of an item, as a member of the object that was begun; nothing if there are none.
    static func adTimeRanges(_ writer: inout JSONWriter, _ ranges: [AdTimeRange], limit: Int?) {
        list("adTimeRanges", ranges, limit: limit, to: &writer) { writer, range in
            writer.member("start", range.start)
            writer.member("duration", range.duration)
        }
    }

    /// All known texts in other languages, as a member of the object that was begun; nothing if there are none.
    static func texts(_ writer: inout JSONWriter, _ texts: [LocalizedText]) {
        list("texts", texts, limit: nil, to: &writer) { writer, text in
            writer.member("key", text.key.rawValue)
            writer.member("language", text.language)
            writer.member("value", text.value)
        }
    }

    private static func list<Element>(
        _ name: StaticString, _ elements: [Element], limit: Int?, to writer: inout JSONWriter,
        _ members: (inout JSONWriter, Element) -> Void
    ) {
        guard !elements.isEmpty else { return }
        writer.key(name)
        if let limit, elements.count > limit {
            writer.beginObject()
            writer.member("count", elements.count)
            return writer.endObject()
        }
        writer.beginArray()
        for element in elements {
            writer.beginObject()
            members(&writer, element)
            writer.endObject()
        }
        writer.endArray()
    }

    /// The artists, one by one, as a member of the object that was begun; nothing if there are none.
    static func artists(_ writer: inout JSONWriter, _ artists: [String]) {
        guard !artists.isEmpty else { return }
        writer.key("artists")
        writer.beginArray()
        for artist in artists { writer.string(artist) }
        writer.endArray()
    }

    /// The known fields of an item, as members of the object that was begun.
    package static func metadata(_ writer: inout JSONWriter, _ metadata: MediaMetadata) {
        writer.member("title", metadata.title)
        writer.member("subtitle", metadata.subtitle)
        writer.member("artist", metadata.artist)
        artists(&writer, metadata.artists)
        writer.member("albumTitle", metadata.albumTitle)
        writer.member("albumArtist", metadata.albumArtist)
        writer.member("composer", metadata.composer)
        writer.member("genre", metadata.genre)
        writer.member("trackNumber", metadata.trackNumber)
        writer.member("trackCount", metadata.trackCount)
        writer.member("discNumber", metadata.discNumber)
        writer.member("discCount", metadata.discCount)
        writer.member("releaseDate", metadata.releaseDate)
        writer.member("isrc", metadata.isrc)
        writer.member("description", metadata.summary)
        writer.member("contentRating", metadata.contentRating)
        writer.member("show", metadata.show)
        writer.member("language", metadata.language)
        writer.member("isExplicit", metadata.isExplicit)
        writer.member("mediaType", (metadata.mediaType ?? .audio).rawValue)
        writer.member("isLiveStream", metadata.isLiveStream)
        writer.member("defaultRate", metadata.defaultRate)
        writer.member("artworkUrl", metadata.artworkURL)
    }
}

extension JSONWriter {
    /// A member that is an object, or `null`. It is in this target because generic functions of other targets are not
    /// specialised, and each call would look up the type.
    mutating func nullable<Value>(
        _ name: StaticString, _ value: Value?, _ members: (inout JSONWriter, Value) -> Void
    ) {
        key(name)
        guard let value else { return null() }
        beginObject()
        members(&self, value)
        endObject()
    }
}
