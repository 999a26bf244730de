import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying

/// Lists of items in an open file: one item per line, a JSON string or object, checked as in a request.
extension MediaResolver {
    /// Maximum bytes of a list.
    package static let listBytes = 256 << 20
    /// Maximum bytes of a line of a list, as of a line of the protocol.
    fileprivate static let lineBytes = 256 << 10
    /// Number of missing media after which the rest of a strict list is not read.
    private static let missingEnough = 100

    /// Items of the list in the file with the descriptor `index` of the request. Reads from the start of the file,
    /// regardless of its offset. Throws the refusal of the first refused line, with its number.
    func resolve(listAt index: Int, isStrict: Bool) throws(RPCError) -> MediaSearch {
        guard descriptors.indices.contains(index) else {
            throw .invalidParameter("list.descriptor", "the line carries no descriptor \(index)")
        }
        var file = try ListedLines(descriptors[index].number)
        let budget = TextBudget()
        var result = MediaSearch(self, budget, looksInside: false)
        var line = 1
        while let piece = try file.next(from: line) {
            if abandoned.isSet { break }
            let parts = ListPart.parts(of: piece, from: line)
            let found = Parallel.map(parts.count) { search(parts[$0], budget, isStrict: isStrict) }
            for part in found { try result.append(try part.get()) }
            line += parts.reduce(0) { $0 + $1.lineCount }
            if isStrict, result.missingCount > Self.missingEnough { break }
        }
        if result.media.isEmpty, result.missingCount == 0, !abandoned.isSet {
            throw .invalidParameter("list", "the list has no items")
        }
        return result
    }

    private func search(_ part: ListPart, _ budget: TextBudget, isStrict: Bool) -> Result<MediaSearch, RPCError> {
        var search = MediaSearch(self, budget, looksInside: false)
        var number = part.firstLine
        var failure: RPCError?
        part.bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count, failure == nil, !abandoned.isSet {
                let end = ListedLines.end(of: bytes, from: start) ?? bytes.count
                do throws(RPCError) {
                    try add(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), number, &search)
                } catch {
                    failure = error.inLine(number)
                }
                if isStrict, search.missingCount > Self.missingEnough { break }
                start = end + 1
                number += 1
            }
        }
        return failure.map { .failure($0) } ?? .success(search)
    }

    /// Adds the item of a line; an empty line has none.
    private func add(
        _ line: UnsafeRawBufferPointer, _ number: Int, _ search: inout MediaSearch
    ) throws(RPCError) {
        guard line.count <= Self.lineBytes else {
            throw .invalidParameter("line \(number)", "the line has more than \(Self.lineBytes) bytes")
        }
        guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { return }
        if let path = Self.plainPath(line), try search.addFile(path) { return }
        let value: JSONValue
        do throws(JSONError) { value = try JSONReader.read(line) } catch {
            throw .invalidParameter("line \(number)", error.message)
        }
        try Catalogue.checkItem(value, at: "line \(number)")
        let known = search.missing.count
        switch value {
        case .string(let uri): try search.add(uri: uri, nil)
        case .object(let object):
            guard object["descriptor"] == nil else {
                throw .invalidParameter("line \(number).descriptor", "“descriptor” cannot be part of a list")
            }
            try search.add(object)
        case .null, .bool, .integer, .number, .array: break
        }
        search.setLine(number, ofMissingAfter: known)
    }

    /// Maximum bytes of a path that `plainPath` returns.
    private static let plainBytes = 1024

    /// The path in a line that has nothing but an absolute path of ASCII in quotes, without escapes. Nil: it is another line.
    private static func plainPath(_ line: UnsafeRawBufferPointer) -> FilePath? {
        guard line.count > 2, line.count <= plainBytes, line[0] == UInt8(ascii: "\""), line[1] == UInt8(ascii: "/"),
            line.last == UInt8(ascii: "\"")
        else { return nil }
        let path = UnsafeRawBufferPointer(rebasing: line[1..<(line.count - 1)])
        var isPlain = true
        for index in 0..<path.count {
            // The compiler makes vectors of this loop.
            let byte = path[index]
            if byte &- 0x20 >= 0x60 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { isPlain = false }
        }
        return isPlain ? FilePath(path) : nil
    }
}

/// Whole lines of a list.
private struct ListPart: Sendable {
    let bytes: ArraySlice<UInt8>
    let firstLine: Int
    let lineCount: Int

    /// Minimum bytes of a piece that two threads share.
    private static let divided = 64 << 10

    /// The lines in one or two parts.
    static func parts(of piece: [UInt8], from line: Int) -> [ListPart] {
        let middle = piece.count < divided ? nil : piece[(piece.count / 2)...].firstIndex(of: UInt8(ascii: "\n"))
        let cut = middle.map { $0 + 1 } ?? piece.count
        let first = ListPart(bytes: piece[..<cut], firstLine: line, lineCount: count(piece[..<cut]))
        guard cut < piece.count else { return [first] }
        let rest = piece[cut...]
        return [first, ListPart(bytes: rest, firstLine: line + first.lineCount, lineCount: count(rest))]
    }

    private static func count(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBytes { bytes in
            var count = 0
            var start = 0
            while start < bytes.count {
                count += 1
                start = (ListedLines.end(of: bytes, from: start) ?? bytes.count) + 1
            }
            return count
        }
    }
}

/// Reads a list piece by piece.
private struct ListedLines {
    private let file: Int32
    private var offset = 0
    private var rest: [UInt8] = []
    private static let pieceBytes = 4 << 20

    /// Throws for all files except a regular file of bounded length that is open for reading.
    init(_ file: Int32) throws(RPCError) {
        self.file = file
        var status = stat()
        let flags = linux_flags(file)
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, flags >= 0, flags & O_ACCMODE != O_WRONLY,
            flags & LINUX_O_PATH == 0
        else {
            throw .invalidParameter("list.descriptor", "the list is not a regular file opened for reading")
        }
        guard status.st_size <= MediaResolver.listBytes else { throw Self.tooLong }
    }

    private static var tooLong: RPCError {
        .commandFailed(.tooLarge, "the list has more than \(MediaResolver.listBytes >> 20) MiB")
    }

    /// The next whole lines, of which the first has the number `line`; nil at the end of the file.
    mutating func next(from line: Int) throws(RPCError) -> [UInt8]? {
        let kept = rest
        rest = []
        var count = 0
        var code: Int32 = 0
        var piece = [UInt8](unsafeUninitializedCapacity: kept.count + Self.pieceBytes) { buffer, used in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            bytes.copyBytes(from: kept)
            count = pread(file, bytes.baseAddress! + kept.count, Self.pieceBytes, off_t(offset))
            code = errno
            used = kept.count + max(0, count)
        }
        guard count >= 0 else {
            throw .noSuchContent("cannot read the list: \(SystemError.words(code).lowercased())")
        }
        offset += count
        // The file may grow while it is read.
        guard offset <= MediaResolver.listBytes else { throw Self.tooLong }
        guard count > 0 else { return piece.isEmpty ? nil : piece }
        guard let end = piece.lastIndex(of: UInt8(ascii: "\n")) else {
            guard piece.count > MediaResolver.lineBytes else {
                rest = piece
                return try next(from: line)
            }
            throw RPCError.invalidParameter("line \(line)", "the line has more than \(MediaResolver.lineBytes) bytes")
                .inLine(line)
        }
        rest = Array(piece[(end + 1)...])
        piece.removeLast(piece.count - end - 1)
        return piece
    }

    /// Index of the next line end; nil: there is none.
    static func end(of bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        memchr(bytes.baseAddress! + start, Int32(UInt8(ascii: "\n")), bytes.count - start).map {
            UnsafeRawPointer($0) - bytes.baseAddress!
        }
    }
}

extension RPCError {
    /// The refusal of a line of a list, with its number in the text and the data.
    fileprivate func inLine(_ number: Int) -> RPCError {
        var error = self
        error.message = "line \(number) of the list: " + message
        error.data["line"] = .integer(Int64(number))
        return error
    }
}
