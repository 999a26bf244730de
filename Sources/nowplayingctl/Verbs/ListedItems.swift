import CLinux
import ControlProtocol
import Glibc
import NowPlayingClient

/// `add --from`: adds items from a file or standard input, one per line, as one change.
enum ListedItems {
    /// Maximum bytes of a list that the daemon accepts.
    private static let maximumBytes = 256 << 20
    /// Seconds for an answer of the daemon.
    private static let patience = 60.0

    /// Adds the items of the file `name`; `-` is standard input. `parameters` have the place in the queue.
    static func add(_ run: Invocation, from name: String, _ parameters: JSONObject) throws(Failure) {
        let list = try lines(of: try contents(name), Media(run))
        let file = try sealed(list)
        defer { close(file) }
        var parameters = parameters
        parameters["list"] = ["descriptor": 0]
        if run.has("--strict") { parameters["strict"] = true }
        let result = try run.call("queue.add", .object(parameters), descriptors: [file], patience: patience)
        run.reportMissing(result)
        if run.wantsJSON { run.printJSON(result) }
    }

    /// Each line as JSON: a path or an address becomes a string, JSON stays unchanged. The lines keep their numbers.
    private static func lines(of text: [UInt8], _ media: Media) throws(Failure) -> [UInt8] {
        var list: [UInt8] = []
        // The quotes of names of 30 bytes.
        list.reserveCapacity(text.count + text.count / 15)
        var start = 0
        while start < text.count {
            let end = text.withUnsafeBytes { lineEnd(in: $0, from: start) }
            let isCopied = text.withUnsafeBytes { copy(UnsafeRawBufferPointer(rebasing: $0[start..<end]), to: &list) }
            if !isCopied { try add(text[start..<end], media, to: &list) }
            list.append(UInt8(ascii: "\n"))
            start = end + 1
        }
        return list
    }

    private static func lineEnd(in text: UnsafeRawBufferPointer, from start: Int) -> Int {
        let end = memchr(text.baseAddress! + start, Int32(UInt8(ascii: "\n")), text.count - start)
        return end.map { UnsafeRawPointer($0) - text.baseAddress! } ?? text.count
    }

    /// Adds a usual line in quotes: an absolute path of ASCII without parts to drop and characters to escape. False: it is
    /// another line.
    private static func copy(_ line: UnsafeRawBufferPointer, to list: inout [UInt8]) -> Bool {
        guard line.first == UInt8(ascii: "/"), line.last != UInt8(ascii: "/") else { return false }
        var isUsual = true
        for index in 1..<line.count {
            // The compiler makes vectors of this loop.
            let (last, byte) = (line[index &- 1], line[index])
            let isPlain = byte &- 0x20 < 0x5f && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            // A doubled slash, `.` or a hidden name.
            let isDropped = last == UInt8(ascii: "/") && (byte == UInt8(ascii: "/") || byte == UInt8(ascii: "."))
            if !isPlain || isDropped { isUsual = false }
        }
        guard isUsual else { return false }
        list.append(UInt8(ascii: "\""))
        list.append(contentsOf: line)
        list.append(UInt8(ascii: "\""))
        return true
    }

    private static func add(_ line: ArraySlice<UInt8>, _ media: Media, to list: inout [UInt8]) throws(Failure) {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        switch line.first {
        case nil: break
        case UInt8(ascii: "{"), UInt8(ascii: "\""): list += line
        default: list += JSONWriter.text(.string(try media.uri(of: Word(bytes: Array(line))))).utf8
        }
    }

    private static func contents(_ name: String) throws(Failure) -> [UInt8] {
        let isInput = name == "-"
        let file = isInput ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure(name, errno) }
        defer { if !isInput { close(file) } }
        var bytes: [UInt8] = []
        while true {
            var (count, code) = (0, Int32(0))
            bytes += [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, used in
                count = read(file, buffer.baseAddress!, 1 << 20)
                code = errno
                used = max(0, count)
            }
            if count < 0, code == EINTR { continue }
            guard count >= 0 else { throw failure(name, code) }
            guard bytes.count <= maximumBytes else {
                throw Failure(.general, "\(TerminalText.safe(name)): a list has at most \(maximumBytes >> 20) MiB")
            }
            if count == 0 { return bytes }
        }
    }

    private static func failure(_ name: String, _ code: Int32) -> Failure {
        let kind: ExitStatus = code == EACCES ? .denied : code == ENOENT ? .noSuchContent : .general
        return Failure(kind, "\(TerminalText.safe(name)): \(SystemText.error(code))")
    }

    /// A sealed file in memory.
    private static func sealed(_ bytes: [UInt8]) throws(Failure) -> Int32 {
        let file = linux_sealable_file("nowplayingctl-list")
        var done = 0
        while file >= 0, done < bytes.count {
            let count = bytes.withUnsafeBytes { write(file, $0.baseAddress! + done, $0.count - done) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            done += count
        }
        guard file >= 0, done == bytes.count, linux_seal(file) == 0 else {
            let code = errno
            if file >= 0 { close(file) }
            throw Failure(.general, "cannot hold the list in memory: \(SystemText.error(code))")
        }
        return file
    }
}
