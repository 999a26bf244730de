import AudioCore
import AudioDecoders
import Glibc
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// Servers that answer a request for a part of a file with something else: the sound is right, or there is an error.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct RangeLieTests {
    /// Answer to a request for the bytes from an offset on.
    private enum Lie: String, CaseIterable, Sendable {
        /// The part, as it should be.
        case none
        /// A part that begins later, or earlier, and says so.
        case later, earlier
        /// The part without its place, or with a place that is none.
        case unplaced, misplaced
        /// The part of a file of another size, or of an unknown one.
        case otherSize, unknownSize
        /// The whole file with 200, although it offers parts; and the same without the offer.
        case whole, wholeUnoffered
        /// 416, and 500.
        case refused, failed
        /// A part that ends after 100 kB, and says so.
        case limited
        /// A body that ends before its length, always at the same offset.
        case cut

        /// True if no error may come: what the server does is allowed, or does not matter.
        var isHarmless: Bool {
            switch self {
            case .none, .unknownSize, .limited: true
            case .later, .earlier, .unplaced, .misplaced, .otherSize, .whole, .wholeUnoffered, .refused, .failed, .cut:
                false
            }
        }
    }

    private struct Format: Sendable {
        let name: String
        let type: String
        let options: [String]
    }

    private static let formats = [
        Format(name: "a.mp3", type: "audio/mpeg", options: ["-c:a", "libmp3lame", "-b:a", "128k"]),
        Format(name: "a.flac", type: "audio/flac", options: ["-c:a", "flac"]),
        Format(
            name: "first.m4a", type: "audio/mp4", options: ["-c:a", "aac", "-b:a", "128k", "-movflags", "+faststart"]),
        Format(name: "last.m4a", type: "audio/mp4", options: ["-c:a", "aac", "-b:a", "128k"]),
    ]

    private static func server(_ lie: Lie, _ file: [UInt8], _ type: String) -> HTTPServer {
        HTTPServer { request, connection in
            let offers = lie == .wholeUnoffered ? [] : ["Accept-Ranges: bytes"]
            let fields = ["Content-Type: \(type)"] + offers
            let end = lie == .cut ? file.count * 6 / 10 : file.count
            guard let offset = request.offset, offset < file.count, lie != .whole, lie != .wholeUnoffered else {
                connection.head("200 OK", fields + ["Content-Length: \(file.count)"])
                connection.send(file[..<end])
                return
            }
            func part(_ bytes: Range<Int>, _ place: String?) {
                let range = place.map { ["Content-Range: bytes \($0)"] } ?? []
                connection.head("206 Partial Content", fields + ["Content-Length: \(bytes.count)"] + range)
                connection.send(file[bytes.clamped(to: 0..<max(end, bytes.lowerBound))])
            }
            let (last, size) = (file.count - 1, file.count)
            switch lie {
            case .none, .cut: part(offset..<size, "\(offset)-\(last)/\(size)")
            case .later:
                let other = min(last, offset + 5000)
                part(other..<size, "\(other)-\(last)/\(size)")
            case .earlier:
                let other = max(0, offset - 5000)
                part(other..<size, "\(other)-\(last)/\(size)")
            case .unplaced: part(offset..<size, nil)
            case .misplaced: part(offset..<size, "all")
            case .otherSize: part(offset..<size, "\(offset)-\(last + 9000)/\(size + 9000)")
            case .unknownSize: part(offset..<size, "\(offset)-\(last)/*")
            case .refused: connection.answer("416 Range Not Satisfiable", ["Content-Range: bytes */\(size)"])
            case .failed: connection.answer("500 Internal Server Error")
            case .limited:
                let limit = min(size, offset + 100_000)
                part(offset..<limit, "\(offset)-\(limit - 1)/\(size)")
            case .whole, .wholeUnoffered: connection.answer("200 OK", fields, file)
            }
        }
    }

    /// Frames of the recording.
    private static let length = 44_100 * 40

    @Test("each lie about ranges, for each format: the sound that belongs to the position, or an error in words")
    func table() async throws {
        let folder = TemporaryFolder()
        let material = AudioMaterial.noise(frames: Self.length)
        var rows: [Row] = []
        for format in Self.formats {
            let file = try coded(material, format.name, format.options, in: folder)
            let server = Self.server(.none, file, format.type)
            let whole = try readFrames(remote(server.url("/" + format.name)))
            rows += Lie.allCases.map { Row(format: format, file: file, whole: whole, lie: $0) }
        }
        // Those that wait begin first: rows are taken from the end.
        let table = Table(rows.filter { $0.lie != .cut } + rows.filter { $0.lie == .cut })
        await withTaskGroup { group in
            for _ in 0..<Self.rowsAtOnce {
                group.addTask {
                    await withCheckedContinuation { done in
                        let isStarted = DetachedThread.start("row", stackBytes: 2 << 20) {
                            table.run()
                            done.resume()
                        }
                        precondition(isStarted)
                    }
                }
            }
        }
        for fault in table.faults.withLock({ $0.sorted() }) { Issue.record(Comment(rawValue: fault)) }
    }

    /// Most rows wait for a process.
    private static let rowsAtOnce = 8

    private struct Row {
        let format: Format
        let file: [UInt8]
        /// The whole sound of the file.
        let whole: [UInt8]
        let lie: Lie
    }

    private final class Table: Sendable {
        private let rows: Mutex<[Row]>
        let faults = Mutex<[String]>([])

        init(_ rows: [Row]) { self.rows = Mutex(rows) }

        /// Runs rows until none is left.
        func run() {
            while let row = rows.withLock({ $0.popLast() }) {
                let found = RangeLieTests.faults(row)
                faults.withLock { $0 += found.map { "\(row.format.name), \(row.lie.rawValue): \($0)" } }
            }
        }
    }

    private static func faults(_ row: Row) -> [String] {
        let (lie, format, whole) = (row.lie, row.format, row.whole)
        let server = server(lie, row.file, format.type)
        var (faults, errors): ([String], [String]) = ([], [])
        do {
            let decoder = try remote(server.url("/" + format.name))
            let size = decoder.format.bytesPerFrame
            let count = whole.count / size
            for target in [0, count * 7 / 10, count / 5, count * 95 / 100] {
                do {
                    if target > 0 { try decoder.seek(toFrame: Int64(target)) }
                    let isLast = target > count * 9 / 10
                    let found = try readFrames(decoder, frames: isLast ? .max : 5000)
                    let expected = whole[(target * size)...].prefix(isLast ? .max : 5000 * size)
                    if found.count != expected.count {
                        faults.append("\(found.count / size) frames of \(expected.count / size) from \(target) on")
                    }
                    if !isAlike(found, Array(expected), decoder.format.sampleFormat) {
                        faults.append("other sound from \(target) on")
                    }
                } catch { errors.append("\(error)") }
            }
        } catch { errors.append("\(error)") }
        if lie.isHarmless, let error = errors.first { faults.append(error) }
        if errors.contains(where: \.isEmpty) { faults.append("an error without words") }
        return faults
    }

    /// True if both are the same sound, but for the first frames after a jump of a coder that overlaps its frames.
    private static func isAlike(_ found: [UInt8], _ expected: [UInt8], _ format: SampleFormat) -> Bool {
        guard found.count == expected.count, !found.isEmpty else { return found.count == expected.count }
        let (a, b) = (values(found, format), values(expected, format))
        let difference = zip(a, b).reduce(0.0) { $0 + abs($1.0 - $1.1) }
        let energy = b.reduce(0.0) { $0 + abs($1) }
        return difference <= energy / 20
    }

    private static func values(_ bytes: [UInt8], _ format: SampleFormat) -> [Double] {
        precondition(format == .float32 || format == .int16)
        return bytes.withUnsafeBytes { raw in
            (0..<raw.count / format.bytes).map { index in
                format == .float32
                    ? Double(raw.loadUnaligned(fromByteOffset: index * 4, as: Float.self))
                    : Double(raw.loadUnaligned(fromByteOffset: index * 2, as: Int16.self))
            }
        }
    }
}
