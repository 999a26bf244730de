/// Types of the page's files.
package enum ContentType {
    /// The type of a file by the ending of its name; nil: such a file is not served.
    package static func of(_ name: String) -> String? {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        return types[String(name[name.index(after: dot)...])]
    }

    private static let types = [
        "html": "text/html; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "json": "application/json",
        "webmanifest": "application/manifest+json",
        "svg": "image/svg+xml",
        "png": "image/png",
        "ico": "image/x-icon",
        "jpg": "image/jpeg",
        "webp": "image/webp",
        "woff2": "font/woff2",
        "mp3": "audio/mpeg",
        "ogg": "audio/ogg",
        "wav": "audio/wav",
        "txt": "text/plain; charset=utf-8",
    ]

    /// True if a body is JSON by its header: `application/json`, with parameters or without.
    package static func isJSON(_ head: RequestHead) -> Bool {
        isType("application/json", head)
    }

    /// True if a body is a plain text by its header.
    package static func isText(_ head: RequestHead) -> Bool { isType("text/plain", head) }

    private static func isType(_ type: String, _ head: RequestHead) -> Bool {
        guard let value = head.value("content-type") else { return false }
        return RequestHead.trimmed(value.prefix { $0 != ";" }).lowercased() == type
    }
}
