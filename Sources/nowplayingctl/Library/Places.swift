import ControlProtocol
import Glibc
import NowPlayingClient

/// Folders and files as arguments: paths on the disk, or paths in the library (`Music/Jazz`).
enum Places {
    /// A folder in the form of `library.browse`. A path that begins with `/`, `./` or `../` is a path on the disk.
    static func member(_ word: Word) throws(Failure) -> JSONObject.Member {
        if isAddress(word.text) { return JSONObject.Member("uri", .string(word.text)) }
        guard !isOfDisk(word) else { return JSONObject.Member("uri", .string(try uri(ofFile: word.bytes))) }
        return JSONObject.Member("path", .string(withoutEnd(word.text)))
    }

    /// A folder in the form of a filter: its path in the library, or its uri.
    static func folder(_ word: Word) throws(Failure) -> String { try member(word).value.stringValue ?? "" }

    /// Throws unless the library has this folder.
    static func check(_ folder: Word, _ run: Invocation) throws(Failure) {
        let parameters = JSONObject([try member(folder), .init("limit", 1)])
        _ = try named(folder) { () throws(Failure) in try run.library("library.browse", parameters) }
    }

    /// Carries out a request about a folder; nil: about none. Its failure names the folder if there is no such one.
    static func named(_ folder: Word?, _ request: () throws(Failure) -> JSONValue) throws(Failure) -> JSONValue {
        do throws(Failure) { return try request() } catch {
            guard let folder, error.status == .noSuchContent else { throw error }
            var failure = error
            failure.message = "\(folder.shown): \(error.message)"
            throw failure
        }
    }

    /// The uri of a folder or file of the library.
    static func uri(_ word: Word, _ run: Invocation) throws(Failure) -> String {
        let member = try member(word)
        guard member.name == "path", let path = member.value.stringValue else { return member.value.stringValue ?? "" }
        if let file = try uris(matching: ["uri": ["is": .string(path)]], run).first { return file }
        let found = try run.library("library.browse", JSONObject([member, .init("limit", 1)]))
        return found["uri"]?.stringValue ?? ""
    }

    /// The uris of files, addresses and all files of folders, in their order. A name that is not on the disk is a path in the
    /// library.
    static func uris(_ words: [Word], _ run: Invocation) throws(Failure) -> [String] {
        var result: [String] = []
        for word in words {
            guard !isAddress(word.text) else {
                result.append(word.text)
                continue
            }
            let kind = fileKind(word.bytes)
            if let kind, kind != S_IFDIR {
                result.append(try uri(ofFile: word.bytes))
                continue
            }
            // The disk of a file that the library knows may be absent.
            let isPath = kind == S_IFDIR || isOfDisk(word)
            let path = isPath ? try uri(ofFile: word.bytes) : withoutEnd(word.text)
            let files = try uris(matching: ["any": [["uri": ["is": .string(path)]], LibraryTest.folder(path)]], run)
            guard !files.isEmpty else {
                throw Failure(.noSuchContent, "\(word.shown) is neither a file nor a folder with tracks of the library")
            }
            result += files
        }
        return result
    }

    private static func uris(matching filter: JSONValue, _ run: Invocation) throws(Failure) -> [String] {
        var after: JSONValue?
        var uris: [String] = []
        repeat {
            var parameters = JSONObject([
                .init("filter", filter), .init("sort", "uri"), .init("fields", ["uri"]), .init("limit", 1000),
            ])
            parameters["after"] = after
            let page = try run.library("library.query", parameters)
            uris += page["rows"]?.arrayValue?.compactMap { $0["uri"]?.stringValue } ?? []
            after = page["next"] == .null ? nil : page["next"]
        } while after != nil
        return uris
    }

    /// True for a uri: a scheme and `://`.
    private static func isAddress(_ text: String) -> Bool {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+") }
        return scheme.count > 1 && text.dropFirst(scheme.count).hasPrefix("://")
    }

    private static func isOfDisk(_ word: Word) -> Bool {
        ["/", "./", "../"].contains { word.bytes.starts(with: $0.utf8) } || [".", ".."].contains(word.text)
    }

    private static func withoutEnd(_ text: String) -> String {
        var path = text[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return String(path)
    }

    private static func uri(ofFile name: [UInt8]) throws(Failure) -> String {
        var folder: [UInt8] = []
        if name.first != UInt8(ascii: "/") {
            guard let text = getcwd(nil, 0) else {
                throw Failure(.general, "cannot read the working directory: \(SystemText.error(errno))")
            }
            folder = Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
            free(text)
        }
        return FileName.encoded(ofAbsolutePath: FileName.direct(FileName.absolute(name, in: folder)))
    }

    /// File type bits of the mode; nil: there is no such file.
    private static func fileKind(_ path: [UInt8]) -> mode_t? {
        var status = stat()
        let isThere = (path + [0]).withUnsafeBytes { stat($0.bindMemory(to: CChar.self).baseAddress!, &status) == 0 }
        return isThere ? status.st_mode & S_IFMT : nil
    }
}
