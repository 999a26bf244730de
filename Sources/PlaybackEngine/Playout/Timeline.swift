package import NowPlaying

/// Map from frames of an output stream to frames of items. A pure value; frames are counted over the life of the stream and
/// of the item.
package struct Timeline: Equatable, Sendable {
    /// A contiguous part of one item.
    package struct Segment: Equatable, Sendable {
        /// Its first frame of the stream.
        package var streamStart: Int64
        /// Frame of the item at `streamStart`.
        package var itemStart: Int64
        /// Frames of the item per frame of the stream.
        package var rate: Double
        package var item: ItemID
        /// Distinguishes plays of the same item.
        package var ticket: Int

        /// A segment, by its parts.
        package init(streamStart: Int64, itemStart: Int64, rate: Double = 1, item: ItemID, ticket: Int) {
            self.rate = rate
            self.streamStart = streamStart
            self.itemStart = itemStart
            self.item = item
            self.ticket = ticket
        }
    }

    /// A position in an item.
    package struct Position: Equatable, Sendable {
        package var segment: Segment
        /// Fractional frames from the beginning of the item.
        package var itemFrame: Double
    }

    /// In ascending order of `streamStart`; of several with the same start only the last one has frames.
    package private(set) var segments: [Segment] = []

    /// An empty map.
    package init() {}

    /// Appends a segment. A segment that begins before the last one replaces the frames that it covers. One that begins with
    /// the last one takes all its frames and keeps it in the list: a client may have sought its very end.
    package mutating func append(_ segment: Segment) {
        cut(at: segment.streamStart + 1)
        segments.append(segment)
    }

    /// Drops everything from this stream frame on, except the segment of `ticket` and earlier ones.
    package mutating func cut(at streamFrame: Int64, sparing ticket: Int? = nil) {
        while let last = segments.last, last.streamStart >= streamFrame, last.ticket != ticket { segments.removeLast() }
    }

    /// Drops the segment of `ticket` and all after it.
    package mutating func cut(from ticket: Int) {
        guard let index = segments.firstIndex(where: { $0.ticket == ticket }) else { return }
        segments.removeSubrange(index...)
    }

    /// Drops segments that end at or before this stream frame, except those of `ticket` and later ones. If `ticket` is not
    /// mapped, all of them are later.
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

    /// Moves all segments by a number of stream frames, for another stream.
    package mutating func shift(by frames: Int64) {
        for index in segments.indices { segments[index].streamStart += frames }
    }

    /// Position at this frame of the stream. Before the first segment it is the beginning of that one.
    package func position(at streamFrame: Double) -> Position? {
        guard let first = segments.first else { return nil }
        // Binary search for the first segment after it.
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if Double(segments[middle].streamStart) <= streamFrame { low = middle + 1 } else { high = middle }
        }
        let segment = low > 0 ? segments[low - 1] : first
        let into = max(0, streamFrame - Double(segment.streamStart))
        return Position(segment: segment, itemFrame: Double(segment.itemStart) + into * segment.rate)
    }

    /// Position of `ticket` at this frame of the stream, and its frame: its beginning or end, if the given frame lies
    /// outside. Nil: not mapped.
    package func position(of ticket: Int, at streamFrame: Double) -> (frame: Double, position: Position)? {
        guard let segment = segments.last(where: { $0.ticket == ticket }) else { return nil }
        let begin = Double(segment.streamStart)
        let frame = max(begin, min(streamFrame, end(of: segment).map(Double.init) ?? streamFrame))
        return (
            frame, Position(segment: segment, itemFrame: Double(segment.itemStart) + (frame - begin) * segment.rate)
        )
    }

    /// Stream frame at which a frame of this play is audible; nil: it is not.
    package func streamFrame(ofItemFrame frame: Int64, ticket: Int) -> Double? {
        guard let segment = segments.last(where: { $0.ticket == ticket && $0.itemStart <= frame }) else { return nil }
        let streamFrame = Double(segment.streamStart) + Double(frame - segment.itemStart) / segment.rate
        guard let end = end(of: segment), streamFrame >= Double(end) else { return streamFrame }
        return nil
    }

    /// First segment that begins after this frame of the stream.
    package func next(after streamFrame: Double) -> Segment? {
        segments.first { Double($0.streamStart) > streamFrame }
    }

    /// Stream frame at the end of a segment, which is the beginning of the next one. Nil: it is the last.
    package func end(of segment: Segment) -> Int64? {
        guard let index = segments.lastIndex(of: segment), index + 1 < segments.count else { return nil }
        return segments[index + 1].streamStart
    }
}
