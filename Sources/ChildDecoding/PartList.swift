/// A playlist of HLS that names parts (RFC 8216 §4): its times, for a start in the middle of a complete playlist, and
/// for the time of the next reading of a growing one.
package struct PartList: Equatable, Sendable {
    private struct Part: Equatable, Sendable {
        /// Seconds from the beginning of the first part to this one, and seconds of this one.
        var start: Double
        var duration: Double
        var link: Substring
        /// Byte count and offset of the part in the linked file; nil: the whole file.
        var range: (count: Int64, offset: Int64)?
        /// Tag lines that apply from this part on.
        var map: Substring?
        var key: Substring?
        var isDiscontinuous = false

        static func == (a: Part, b: Part) -> Bool {
            a.start == b.start && a.duration == b.duration && a.link == b.link && a.map == b.map && a.key == b.key
                && a.range?.count == b.range?.count && a.range?.offset == b.range?.offset
                && a.isDiscontinuous == b.isDiscontinuous
        }
    }

    /// Maximum bytes of a playlist: days of parts.
    package static let maximumBytes = 4 << 20

    /// True if it no longer grows.
    package private(set) var isWhole = false
    /// Maximum seconds of a part, as the playlist states it.
    package private(set) var longest = 0.0
    private var head: [Substring] = []
    private var firstNumber: Int64 = 0
    private var parts: [Part] = []

    /// Parses the bytes of a playlist; nil: it is not a playlist of parts, or is invalid.
    package init?(_ bytes: [UInt8]) {
        guard Self.isPlaylist(bytes) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        var next = Part(start: 0, duration: -1, link: "")
        for line in text.split(whereSeparator: \.isNewline) where !line.allSatisfy(\.isWhitespace) {
            guard line.hasPrefix("#") else {
                guard next.duration >= 0 else { return nil }
                next.link = line
                parts.append(next)
                let start = next.start + next.duration
                next = Part(start: start, duration: -1, link: "", map: next.map, key: next.key)
                continue
            }
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            let value = line[colon...].dropFirst()
            switch line[..<colon] {
            case "#EXTINF":
                guard let seconds = Double(value.prefix { $0 != "," }.filter { !$0.isWhitespace }),
                    (0...86_400).contains(seconds)
                else { return nil }
                next.duration = seconds
            case "#EXT-X-BYTERANGE":
                guard let range = Self.range(value, behind: parts.last?.range) else { return nil }
                next.range = range
            case "#EXT-X-MAP": next.map = line
            case "#EXT-X-KEY": next.key = line
            case "#EXT-X-DISCONTINUITY": next.isDiscontinuous = true
            case "#EXT-X-MEDIA-SEQUENCE": firstNumber = Int64(value) ?? 0
            case "#EXT-X-ENDLIST": isWhole = true
            case "#EXT-X-TARGETDURATION":
                longest = Double(value).map { min(max($0, 0), 86_400) } ?? 0
                head.append(line)
            case "#EXT-X-VERSION", "#EXT-X-PLAYLIST-TYPE": head.append(line)
            default: break
            }
        }
        guard !parts.isEmpty else { return nil }
    }

    /// True if these are the first bytes of a playlist.
    package static func isPlaylist(_ bytes: some Collection<UInt8>) -> Bool {
        let mark = Array("#EXTM3U".utf8)
        return bytes.starts(with: mark) || bytes.starts(with: [0xEF, 0xBB, 0xBF] + mark)
    }

    private static func range(
        _ text: Substring, behind before: (count: Int64, offset: Int64)?
    ) -> (count: Int64, offset: Int64)? {
        let numbers = text.split(separator: "@").map { Int64($0) }
        guard let first = numbers.first, let count = first, count > 0, numbers.count <= 2 else { return nil }
        let offset: Int64?
        if numbers.count == 2 { offset = numbers[1] } else { offset = (before?.offset ?? 0) + (before?.count ?? 0) }
        guard let offset, offset >= 0, offset < 1 << 53, count < 1 << 53 else { return nil }
        return (count, offset)
    }

    /// Number after that of the last part.
    package var end: Int64 { firstNumber &+ Int64(parts.count) }

    /// Number of the first part.
    package var first: Int64 { firstNumber }

    /// True if the encoder began again since `earlier`, with smaller numbers. A cache may also answer an older playlist.
    package func beginsAgain(after earlier: PartList) -> Bool {
        firstNumber < earlier.firstNumber && !earlier.parts.contains { $0.link == parts.last?.link }
    }

    /// The bytes of a growing playlist with `shift` added to the numbers of its parts.
    package static func renumbered(_ bytes: [UInt8], by shift: Int64) -> [UInt8] {
        let mark = "#EXT-X-MEDIA-SEQUENCE"
        var isStated = false
        var lines = String(decoding: bytes, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() where line.hasPrefix(mark) {
            isStated = true
            lines[index] = "\(mark):\((Int64(line.drop { $0 != ":" }.dropFirst()) ?? 0) &+ shift)"
        }
        if !isStated { lines.insert("\(mark):\(shift)", at: min(1, lines.count)) }
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Seconds of all parts.
    package var duration: Double { parts.last.map { $0.start + $0.duration } ?? 0 }

    /// Seconds of the last part.
    package var last: Double { parts.last?.duration ?? 0 }

    /// The playlist from the part that plays at this second, or from the last part, and the second at which that part
    /// begins.
    package func beginning(at seconds: Double) -> (seconds: Double, bytes: [UInt8]) {
        let first = max(0, (parts.firstIndex { $0.start > seconds } ?? parts.count) - 1)
        var lines = ["#EXTM3U"] + head
        lines.append("#EXT-X-MEDIA-SEQUENCE:\(firstNumber &+ Int64(first))")
        var map: Substring?
        var key: Substring?
        for (index, part) in parts[first...].enumerated() {
            if index > 0, part.isDiscontinuous { lines.append("#EXT-X-DISCONTINUITY") }
            if part.key != key, let line = part.key { lines.append(line) }
            if part.map != map, let line = part.map { lines.append(line) }
            (key, map) = (part.key, part.map)
            lines.append("#EXTINF:\(part.duration),")
            if let range = part.range { lines.append("#EXT-X-BYTERANGE:\(range.count)@\(range.offset)") }
            lines.append(part.link)
        }
        if isWhole { lines.append("#EXT-X-ENDLIST") }
        return (parts[first].start, Array((lines.joined(separator: "\n") + "\n").utf8))
    }
}
