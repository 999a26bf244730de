import CLinux
import ControlProtocol
import Glibc
import NowPlayingClient

extension Pictures {
    /// Pictures of the current item.
    static let verbs = [
        Verb(
            name: "artwork", summary: "print the path of the current item's picture",
            options: [
                Option("--size", value: "WxH", "preferred size; the nearest available one is used"),
                Option("--inside", "prefer a smaller picture to a larger one"),
                Option(
                    "--kind", value: "image|preview|video", "preview and video are for animated artwork; default: image"
                ),
                Option("--aspect", value: "1:1|3:4", "shape of the animated artwork"),
                Option("--output", value: "FILE", "copy the picture to this file; - is standard output"),
            ],
            examples: [
                ("artwork", "the path of the picture in the daemon's cache"),
                ("artwork --size 600x600 --output cover.jpg", "a copy of it"),
                ("artwork --kind video --aspect 3:4", "the path of the tall film"),
            ], run: Pictures.artwork)
    ]
}

/// `artwork`.
enum Pictures {
    /// Seconds for an answer: a picture from the network takes at most 30.
    private static let patience = 40.0
    private static let kinds = ["image", "preview", "video"]

    /// Prints the path of a picture of the current item, or copies the picture (`--output`).
    static func artwork(_ run: Invocation) throws(Failure) {
        let kind = run.value("--kind") ?? "image"
        guard kinds.contains(kind) else { throw run.wrong("--kind", kind, "image, preview or video") }
        let state = try run.state()
        guard let item = state.item else {
            throw Failure(.nothingPlaying, "no current item, so there is no picture")
        }
        var parameters = JSONObject([.init("id", .string(try id(item, kind, run))), .init("kind", .string(kind))])
        if let (width, height) = try size(run) {
            parameters["width"] = .integer(width)
            parameters["height"] = .integer(height)
        }
        if run.has("--inside") { parameters["fit"] = "inside" }
        // The daemon sends the file as a descriptor: a user who may use the daemon need not have access to its cache.
        let target = run.value("--output")
        if target != nil { parameters["descriptor"] = true }
        let result = try run.call("artwork.get", .object(parameters), patience: patience)
        let path = result["path"]?.stringValue ?? ""
        guard let target else {
            return run.wantsJSON ? run.printJSON(result) : run.output.line(TerminalText.safe(path))
        }
        guard let source = try run.connection().takeDescriptor() else {
            throw Failure(.general, "the daemon sent no open file: it is older than this program; restart it")
        }
        defer { close(source) }
        try copy(source, to: target)
    }

    /// The id of the requested picture.
    private static func id(_ item: JSONValue, _ kind: String, _ run: Invocation) throws(Failure) -> String {
        let pictures = item["artwork"]?.arrayValue ?? []
        let isAnimated = kind != "image"
        let found = pictures.first { picture in
            guard (picture["kind"] == "animated") == isAnimated else { return false }
            return !isAnimated || run.value("--aspect").map { picture["aspect"]?.stringValue == $0 } ?? true
        }
        if let id = found?["id"]?.stringValue { return id }
        throw Failure(
            .noSuchContent,
            isAnimated
                ? "this item has no such animated artwork; put a film beside it as cover-square.mp4 or cover-tall.mp4"
                : "this item has no picture; put one into the file, or beside it as cover.jpg (nowplayingctl doctor shows "
                    + "the reason if one is rejected)")
    }

    private static func size(_ run: Invocation) throws(Failure) -> (Int64, Int64)? {
        guard let text = run.value("--size") else { return nil }
        let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1], width > 0, height > 0 else {
            throw run.wrong("--size", text, "width and height in pixels, such as 600x600")
        }
        return (width, height)
    }

    private static func copy(_ source: Int32, to target: String) throws(Failure) {
        func failure(_ what: String) -> Failure {
            Failure(.general, "\(TerminalText.safe(what)): \(String(cString: strerror(errno)))")
        }
        let file = target == "-" ? dup(1) : linux_open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw failure("cannot write \(target)") }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = read(source, &buffer, buffer.count), count > 0 {
            var done = 0
            while done < count {
                let written = buffer[done..<count].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
                guard written > 0 else { throw failure("cannot write \(target)") }
                done += written
            }
        }
    }
}
