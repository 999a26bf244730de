package import NowPlaying

/// Which frame of which item stands at which frame of an output stream. A pure value; frames are counted over the life of
/// the stream and of the item.
package struct Timeline: Equatable, Sendable {
    /// A stretch of one item.
    package struct Segment: Equatable, Sendable {
        /// First frame of the stream that belongs to it.
        package var streamStart: Int64
        /// Frame of the item that is heard there.
        package var itemStart: Int64
        /// Frames of the item per frame of the stream.
        package var rate: Double
        package var item: ItemID
        /// Tells apart the times that the same item plays.
        package var ticket: Int

        /// A stretch, by its parts.
        package init(streamStart: Int64, itemStart: Int64, rate: Double = 1, item: ItemID, ticket: Int) {
            self.rate = rate
            self.streamStart = streamStart
            self.itemStart = itemStart
            self.item = item
            self.ticket = ticket
        }
    }

    /// A place in an item.
    package struct Place: Equatable, Sendable {
        package var segment: Segment
        /// Frames from the beginning of the item, fractional.
        package var itemFrame: Double
    }

    /// In ascending order of `streamStart`; of several that begin at the same frame only the last one has any.
    package private(set) var segments: [Segment] = []

    /// Empty: nothing is mapped.
    package init() {}

    /// Adds what comes behind all that is there. A segment that begins before the last one replaces what it covers; one that
    /// begins where the last one does leaves that without a frame, but there: somebody may have sought its very end.
    package mutating func append(_ segment: Segment) {
        cut(at: segment.streamStart + 1)
        segments.append(segment)
    }

    /// Forgets everything from this stream frame on; not the stretch of `ticket` and what lies before it.
    package mutating func cut(at streamFrame: Int64, sparing ticket: Int? = nil) {
        while let last = segments.last, last.streamStart >= streamFrame, last.ticket != ticket { segments.removeLast() }
    }

    /// Forgets the stretch of `ticket` and all behind it.
    package mutating func cut(from ticket: Int) {
        guard let place = segments.firstIndex(where: { $0.ticket == ticket }) else { return }
        segments.removeSubrange(place...)
    }

    /// Forgets what ends at or before this stream frame; not the stretches of `ticket` and what follows them. All of it follows a
    /// ticket that is not there.
    package mutating func forget(before streamFrame: Int64, sparing ticket: Int? = nil) {
        if let ticket, !segments.contains(where: { $0.ticket == ticket }) { return }
        var count = 0
        while count + 1 < segments.count, segments[count + 1].streamStart <= streamFrame,
            segments[count].ticket != ticket
        {
            count += 1
        }
        segments.removeFirst(count)
    }

    /// Moves everything by so many frames of the stream: what follows is heard on another one.
    package mutating func shift(by frames: Int64) {
        for index in segments.indices { segments[index].streamStart += frames }
    }

    /// What is at this frame of the stream. Before the first segment it is the first one's beginning: nothing of it has been
    /// heard yet.
    package func place(at streamFrame: Double) -> Place? {
        guard let first = segments.first else { return nil }
        // The first one behind it, by halving: they ascend.
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if Double(segments[middle].streamStart) <= streamFrame { low = middle + 1 } else { high = middle }
        }
        let segment = low > 0 ? segments[low - 1] : first
        let into = max(0, streamFrame - Double(segment.streamStart))
        return Place(segment: segment, itemFrame: Double(segment.itemStart) + into * segment.rate)
    }

    /// Where `ticket` is at this frame of the stream, and which frame that is: its beginning or end, if the frame lies before or
    /// behind. Nil: it is not mapped.
    package func place(of ticket: Int, at streamFrame: Double) -> (frame: Double, place: Place)? {
        guard let segment = segments.last(where: { $0.ticket == ticket }) else { return nil }
        let begin = Double(segment.streamStart)
        let frame = max(begin, min(streamFrame, end(of: segment).map(Double.init) ?? streamFrame))
        return (
            frame, Place(segment: segment, itemFrame: Double(segment.itemStart) + (frame - begin) * segment.rate)
        )
    }

    /// The frame of the stream where a frame of an item is heard, as this time of its playing goes; nil: not at all.
    package func streamFrame(ofItemFrame frame: Int64, ticket: Int) -> Double? {
        guard let segment = segments.last(where: { $0.ticket == ticket && $0.itemStart <= frame }) else { return nil }
        let place = Double(segment.streamStart) + Double(frame - segment.itemStart) / segment.rate
        guard let end = end(of: segment), place >= Double(end) else { return place }
        return nil
    }

    /// The first segment that begins behind this frame of the stream.
    package func next(after streamFrame: Double) -> Segment? {
        segments.first { Double($0.streamStart) > streamFrame }
    }

    /// The stream frame where a segment ends: where the next one begins. Nil: it is the last.
    package func end(of segment: Segment) -> Int64? {
        guard let place = segments.lastIndex(of: segment), place + 1 < segments.count else { return nil }
        return segments[place + 1].streamStart
    }
}
