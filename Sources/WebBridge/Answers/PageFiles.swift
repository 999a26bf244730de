import Glibc
import LinuxSystem
import WebProtocol

/// The files of the page.
///
/// The page names its scripts and styles with the version of all files, `v/VERSION/script/main.js`. A browser requests a
/// versioned file once and keeps it. It requests other files each time. No file names a base path: all paths of the page are
/// relative to it.
@PlayerLoop final class PageFiles {
    private let folder: FilePath?
    private let version: PageVersion?
    /// The page with the names of this version.
    private var page: (version: String, bytes: [UInt8], styles: [StyleDigest])?

    /// Files in the folder beside the program, or in the folder of `make install`.
    init() {
        let found = Self.find()
        folder = found.flatMap { FilePath($0.utf8) }
        version = found.map { PageVersion($0) }
    }

    private static func find() -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count - 1)
        guard count > 0 else { return nil }
        let own = String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { return nil }
        var folder = String(own[..<slash])
        let installed = folder + "/../share/nowplayingd/web"
        if access(installed + "/index.html", R_OK) == 0 { return installed }
        // A program from a build tree is some folders below the sources.
        for _ in 0..<5 {
            if access(folder + "/web/index.html", R_OK) == 0 { return folder + "/web" }
            guard let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else { return nil }
            folder = String(folder[..<slash])
        }
        return nil
    }

    /// True if there is a page.
    var arePresent: Bool { folder != nil }

    /// The answer with a file. Throws for a missing file.
    func answer(_ path: [String], _ head: RequestHead) throws(HTTPFault) -> HTTPAnswer {
        guard let folder, let version else {
            throw HTTPFault(.notFound, "the files of the page are not installed; “make install” puts them in place")
        }
        if path == [Self.pageName] { return try answerPage(folder, version.current, head) }
        let isVersioned = path.first == Self.versions && path.count > 2
        let path = isVersioned ? Array(path[2...]) : path
        guard let name = path.last, let type = ContentType.of(name), !path.contains(where: { $0.hasPrefix(".") }) else {
            throw .notFound
        }
        let text = path.joined(separator: "/")
        let packed = Self.takesGzip(head) ? Self.open(folder, text + ".gz") : nil
        guard let file = packed ?? Self.open(folder, text) else { throw .notFound }
        let isLasting = isVersioned && head.target.path[1] == version.current
        var headers: [(name: String, value: String)] = [
            ("Content-Type", type), ("Cache-Control", isLasting ? "public, max-age=31536000, immutable" : "no-cache"),
            ("Vary", "Accept-Encoding"),
        ]
        if packed != nil { headers.append(("Content-Encoding", "gzip")) }
        return try FileAnswer.make(file, head, headers + SafetyHeaders.page())
    }

    private static let pageName = "index.html"
    /// The first part of a path with a version.
    private static let versions = "v"
    /// The version in the source of the page.
    private static let placeholder = Array("\"v/0/".utf8)

    private func answerPage(
        _ folder: FilePath, _ version: String, _ head: RequestHead
    ) throws(HTTPFault) -> HTTPAnswer {
        if page?.version != version {
            guard let bytes = Self.open(folder, Self.pageName).flatMap(Self.content) else { throw .notFound }
            page = (version, Self.named(bytes, version), StyleDigest.all(in: bytes))
        }
        let bytes = page?.bytes ?? []
        let tag = "\"\(version)\""
        let headers =
            [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-cache"), ("ETag", tag)]
            + [("Accept-Ranges", "bytes")] + SafetyHeaders.page(styles: page?.styles ?? [])
        if EntityTag.isKnown(tag, to: head) { return HTTPAnswer(.notModified, headers) }
        return try FileAnswer.make(bytes, head, headers, tag)
    }

    private static func content(_ file: OwnedDescriptor) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes {
                read(file.number, $0.baseAddress! + count, $0.count - count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { return nil }
            if got == 0 { break }
            count += got
        }
        return Array(bytes[..<count])
    }

    private static func named(_ bytes: [UInt8], _ version: String) -> [UInt8] {
        let name = Array("\"\(versions)/\(version)/".utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == placeholder[0], bytes[index...].starts(with: placeholder) {
                result += name
                index += placeholder.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    private static func takesGzip(_ head: RequestHead) -> Bool {
        head.elements("accept-encoding").contains { $0 == "gzip" || $0.hasPrefix("gzip;") && !$0.hasSuffix("q=0") }
    }

    private static func open(_ folder: FilePath, _ path: String) -> OwnedDescriptor? {
        guard let relative = FilePath(path.utf8) else { return nil }
        let file = ConfinedPath(root: folder, relative: relative).openFile()
        return file >= 0 ? OwnedDescriptor(file) : nil
    }
}

/// Answers with an open file, or with a part of it.
enum FileAnswer {
    /// The answer. `tag`: nil for a tag from the file's size, time and number.
    static func make(
        _ file: OwnedDescriptor, _ head: RequestHead, _ headers: [(name: String, value: String)], tag: String? = nil
    ) throws(HTTPFault) -> HTTPAnswer {
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .notFound }
        let size = UInt64(max(0, status.st_size))
        let made = "\"\(status.st_ino)-\(size)-\(status.st_mtim.tv_sec)-\(status.st_mtim.tv_nsec)\""
        let tag = tag ?? made
        let common = headers + [("ETag", tag), ("Accept-Ranges", "bytes")]
        if EntityTag.isKnown(tag, to: head) { return HTTPAnswer(.notModified, common) }
        return try part(of: size, head, common, tag) { .file(file, $0) }
    }

    /// The answer with these bytes, or with a part of them.
    static func make(
        _ bytes: [UInt8], _ head: RequestHead, _ headers: [(name: String, value: String)], _ tag: String
    ) throws(HTTPFault) -> HTTPAnswer {
        try part(of: UInt64(bytes.count), head, headers, tag) { range in
            .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
    }

    private static func part(
        of size: UInt64, _ head: RequestHead, _ headers: [(name: String, value: String)], _ tag: String,
        _ body: (Range<UInt64>) -> HTTPAnswer.Body
    ) throws(HTTPFault) -> HTTPAnswer {
        switch ByteRange(head, size: size, tag: tag) {
        case .whole: return HTTPAnswer(.ok, headers, body(0..<size))
        case .part(let range):
            let place = ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
            return HTTPAnswer(.partialContent, headers + [place], body(range))
        case .unsatisfiable:
            throw HTTPFault(
                .rangeNotSatisfiable, "the file has \(size) bytes", headers: ["Content-Range": "bytes */\(size)"])
        }
    }
}
