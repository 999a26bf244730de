import CINIH
import CLinux
import ControlProtocol
import Glibc
import NowPlaying

/// An invalid configuration, in messages that name file and line.
package struct ConfigurationError: Error, Equatable, Sendable {
    /// One line for each fault.
    package let messages: [String]

    /// An error with these lines.
    package init(messages: [String]) { self.messages = messages }
}

/// Reads INI files with libinih. All programs of the project share their files; each program has sections of its own.
package enum INIFile {
    /// Limit of a file's size: smaller files are read.
    private static let maximumBytes = 1 << 20
    /// Maximum number of files in a folder of drop-ins.
    private static let maximumDropIns = 100
    /// Maximum bytes of a line that libinih reads whole (INI_MAX_LINE less the line end).
    private static let maximumLineBytes = 197

    /// The sections of the bridges and of the library. Only these programs judge them.
    package static let bridgeSections = ["hooks", "mqtt", "mpris", "mpd", "library", "snapcast", "web"]

    /// The files that programs read if no other is named, in this order: the system's, the user's, and the drop-ins of both.
    /// A later file overrides an earlier one.
    package static var usualPaths: [String] { paths(inFolders: folders) }

    /// The same for these folders.
    package static func paths(inFolders folders: [String]) -> [String] {
        let files = folders.map { $0 + "/nowplayingd.conf" }
        return files + files.flatMap { dropIns($0 + ".d") }
    }

    /// Folders of configuration files, the user's last.
    private static var folders: [String] {
        if let folder = getenv("XDG_CONFIG_HOME"), folder.pointee != 0 { return ["/etc", String(cString: folder)] }
        if let home = getenv("HOME"), home.pointee != 0 { return ["/etc", String(cString: home) + "/.config"] }
        return ["/etc"]
    }

    /// Paths of a folder's files that end in `.conf` and are not hidden, in the order of the bytes of their names.
    private static func dropIns(_ folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream), names.count < maximumDropIns {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".conf"), !name.hasPrefix(".") { names.append(folder + "/" + name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Calls `set` for each setting in `text`; `name` is the name of the file in messages. `set` returns the fault of the
    /// setting, and `judge` that of a section, which may have no settings; nil: there is none.
    package static func parse(
        _ text: [UInt8], named name: String, judge: @escaping (_ section: String) -> String?,
        set: @escaping (_ section: String, _ name: String, _ value: String) -> String?
    ) throws(ConfigurationError) {
        let parser = Parser(text, name, judge, set)
        let context = Unmanaged.passUnretained(parser).toOpaque()
        let result = ini_parse_stream(
            { buffer, size, context in
                guard let buffer, let context else { return nil }
                let parser = Unmanaged<Parser>.fromOpaque(context).takeUnretainedValue()
                return parser.nextLine(into: buffer, size: Int(size)) ? buffer : nil
            }, context,
            { context, section, name, value in
                guard let context, let section, let name else { return 0 }
                let parser = Unmanaged<Parser>.fromOpaque(context).takeUnretainedValue()
                parser.take(
                    String(cString: section), String(cString: name), value.map { String(cString: $0) } ?? "")
                return 1
            }, context)
        if result > 0, parser.faults.isEmpty {
            parser.faults.append("\(name):\(result): neither “[section]” nor “name = value”")
        }
        guard parser.faults.isEmpty else { throw ConfigurationError(messages: parser.faults) }
    }

    /// The bytes of a file of less than 1 MiB. Nil, with `isOptional` only: the file is not there, or this user may not read
    /// it; in the latter case, `unreadable` gets its path.
    package static func contents(
        _ path: String, isOptional: Bool, unreadable: inout [String]
    ) throws(ConfigurationError) -> [UInt8]? {
        func failed() -> ConfigurationError {
            let why = String(cString: strerror(errno))
            return ConfigurationError(messages: ["cannot read the configuration \(path): \(why)"])
        }
        let file = linux_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        guard file >= 0 else {
            if isOptional, errno == ENOENT || errno == ENOTDIR { return nil }
            if isOptional, errno == EACCES {
                unreadable.append(path)
                return nil
            }
            throw failed()
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        while bytes.count < maximumBytes {
            let before = bytes.count
            var got = 0
            bytes.append(contentsOf: repeatElement(0, count: 16 << 10))
            got = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress! + before, 16 << 10) }
            bytes.removeLast((16 << 10) - max(0, got))
            if got < 0 { throw failed() }
            if got == 0 { return bytes }
        }
        throw ConfigurationError(messages: ["the configuration \(path) has more than \(maximumBytes) bytes"])
    }

    /// State between two callbacks of libinih, which reports no line numbers: the line reader counts them.
    private final class Parser {
        var faults: [String] = []
        private let text: [UInt8]
        private let name: String
        private let judge: (String) -> String?
        private let set: (String, String, String) -> String?
        private var offset = 0
        private var line = 0

        init(
            _ text: [UInt8], _ name: String, _ judge: @escaping (String) -> String?,
            _ set: @escaping (String, String, String) -> String?
        ) {
            self.text = text
            self.name = name
            self.judge = judge
            self.set = set
        }

        func nextLine(into buffer: UnsafeMutablePointer<CChar>, size: Int) -> Bool {
            guard offset < text.count else { return false }
            line += 1
            let end = text[offset...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            var content = text[offset..<end]
            offset = end + 1
            if content.last == UInt8(ascii: "\r") { content.removeLast() }
            if content.contains(0) || String(validating: content, as: UTF8.self) == nil {
                fault("the line is not UTF-8")
                content = []
            } else if content.count > min(INIFile.maximumLineBytes, size - 2) {
                fault("the line has more than \(INIFile.maximumLineBytes) bytes")
                content = []
            }
            checkSection(content)
            for (index, byte) in content.enumerated() { buffer[index] = CChar(bitPattern: byte) }
            buffer[content.count] = CChar(bitPattern: UInt8(ascii: "\n"))
            buffer[content.count + 1] = 0
            return true
        }

        /// Judges a section header: libinih does not report a section without settings.
        private func checkSection(_ content: ArraySlice<UInt8>) {
            let text = String(decoding: content, as: UTF8.self).drop { $0 == " " || $0 == "\t" }
            guard text.first == "[", let end = text.firstIndex(of: "]") else { return }
            if let message = judge(String(text[text.index(after: text.startIndex)..<end])) { fault(message) }
        }

        func take(_ section: String, _ name: String, _ value: String) {
            if let message = set(section, name, value) { fault(message) }
        }

        private func fault(_ message: String) { faults.append("\(name):\(line): " + PrintableText.escaped(message)) }
    }
}
