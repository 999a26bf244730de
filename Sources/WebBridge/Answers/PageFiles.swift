import Glibc
import LinuxSystem
import WebProtocol

/// The files of the page.
struct PageFiles: Sendable {
    private let folder: FilePath?

    /// Files in the folder beside the program, or where `make install` puts it.
    init() { folder = Self.find().flatMap { FilePath($0.utf8) } }

    private static func find() -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count - 1)
        guard count > 0 else { return nil }
        let own = String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { return nil }
        var folder = String(own[..<slash])
        let installed = folder + "/../share/nowplayingd/web"
        if access(installed + "/index.html", R_OK) == 0 { return installed }
        // A program that was built here lies some folders below the sources.
        for _ in 0..<5 {
            if access(folder + "/web/index.html", R_OK) == 0 { return folder + "/web" }
            guard let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else { return nil }
            folder = String(folder[..<slash])
        }
        return nil
    }

    /// True if there is a page.
    var arePresent: Bool { folder != nil }

    /// The answer with a file. Throws for one that is not there.
    func answer(_ path: [String], _ head: RequestHead) throws(HTTPFault) -> HTTPAnswer {
        guard let folder else {
            throw HTTPFault(.notFound, "the files of the page are not installed; “make install” puts them in place")
        }
        guard let name = path.last, let type = ContentType.of(name), !path.contains(where: { $0.hasPrefix(".") }) else {
            throw .notFound
        }
        let text = path.joined(separator: "/")
        let packed = Self.takesGzip(head) ? Self.open(folder, text + ".gz") : nil
        guard let file = packed ?? Self.open(folder, text) else { throw .notFound }
        var headers: [(name: String, value: String)] = [
            ("Content-Type", type), ("Cache-Control", "no-cache"), ("Vary", "Accept-Encoding"),
        ]
        if packed != nil { headers.append(("Content-Encoding", "gzip")) }
        return try FileAnswer.make(file, head, headers + SafetyHeaders.page)
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
    /// The answer. `tag`: nil, made of the file's size, time and number.
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
        switch ByteRange(head, size: size, tag: tag) {
        case .whole: return HTTPAnswer(.ok, common, .file(file, 0..<size))
        case .part(let range):
            let place = ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
            return HTTPAnswer(.partialContent, common + [place], .file(file, range))
        case .unsatisfiable:
            throw HTTPFault(
                .rangeNotSatisfiable, "the file has \(size) bytes", headers: ["Content-Range": "bytes */\(size)"])
        }
    }
}
