import CLinux
import ControlProtocol
import Glibc
import NowPlayingClient

extension Verb {
    /// Pictures of what plays.
    static let pictures = [
        Verb(
            name: "artwork", summary: "show where the picture of the present item is",
            options: [
                Option("--size", value: "WxH", "the size that is wanted; the nearest that there is comes"),
                Option("--inside", "rather smaller than that than larger"),
                Option("--output", value: "FILE", "copy the picture there; - is standard output"),
            ],
            examples: [
                ("artwork", "the path of the picture in the daemon's cache"),
                ("artwork --size 600x600 --output cover.jpg", "a copy of it"),
            ], run: Pictures.artwork)
    ]
}

/// `artwork`.
enum Pictures {
    static func artwork(_ run: Invocation) throws(Failure) {
        let state = try run.state()
        guard let item = state.item else {
            throw Failure(.nothingPlaying, "nothing is playing, so there is no picture")
        }
        guard let id = item["artwork"]?.arrayValue?.first?["id"]?.stringValue else {
            throw Failure(
                .noSuchContent, "this item has no picture: put one into the file, or beside it as cover.jpg")
        }
        var parameters = JSONObject([.init("id", .string(id))])
        if let (width, height) = try size(run) {
            parameters["width"] = .integer(width)
            parameters["height"] = .integer(height)
        }
        if run.has("--inside") { parameters["fit"] = "inside" }
        let result = try run.call("artwork.get", .object(parameters))
        if run.wantsJSON, run.value("--output") == nil { return run.printJSON(result) }
        let path = result["path"]?.stringValue ?? ""
        guard let target = run.value("--output") else { return run.output.line(TerminalText.safe(path)) }
        try copy(path, to: target)
    }

    private static func size(_ run: Invocation) throws(Failure) -> (Int64, Int64)? {
        guard let text = run.value("--size") else { return nil }
        let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1], width > 0, height > 0 else {
            throw run.wrong("--size", text, "width and height in pixels, such as 600x600")
        }
        return (width, height)
    }

    private static func copy(_ path: String, to target: String) throws(Failure) {
        func failure(_ what: String) -> Failure {
            Failure(.general, "\(TerminalText.safe(what)): \(String(cString: strerror(errno)))")
        }
        let source = linux_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard source >= 0 else { throw failure("the picture \(path) can't be read") }
        defer { close(source) }
        let file = target == "-" ? dup(1) : linux_open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw failure("\(target) can't be written") }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = read(source, &buffer, buffer.count), count > 0 {
            var done = 0
            while done < count {
                let written = buffer[done..<count].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
                guard written > 0 else { throw failure("\(target) can't be written") }
                done += written
            }
        }
    }
}
