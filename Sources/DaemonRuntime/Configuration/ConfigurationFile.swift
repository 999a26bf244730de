import CINIH
import CLinux
import ControlProtocol
import Glibc
import LinuxSystem

/// A configuration that can't be used, in words that name file and line.
package struct ConfigurationError: Error, Equatable, Sendable {
    /// One line for each fault.
    package let messages: [String]

    /// An error with these lines.
    package init(messages: [String]) { self.messages = messages }
}

/// Reads INI files by libinih.
package enum ConfigurationFile {
    /// Files of less than this are read.
    private static let maximumBytes = 1 << 20
    /// Bytes of a line that libinih takes whole (INI_MAX_LINE less the line end).
    private static let maximumLineBytes = 197

    /// The files that are read when no other is named, in this order; the later one counts more.
    package static var usualPaths: [String] {
        var paths = ["/etc/nowplayingd.conf"]
        if let folder = getenv("XDG_CONFIG_HOME"), folder.pointee != 0 {
            paths.append(String(cString: folder) + "/nowplayingd.conf")
        } else if let home = getenv("HOME"), home.pointee != 0 {
            paths.append(String(cString: home) + "/.config/nowplayingd.conf")
        }
        return paths
    }

    /// The settings of `path`, or of the usual files if it is nil. Files of the usual ones that do not exist are left out.
    package static func load(_ path: String?) throws(ConfigurationError) -> Configuration {
        var configuration = Configuration()
        for file in path.map({ [$0] }) ?? usualPaths {
            guard let text = try contents(file, isOptional: path == nil) else { continue }
            try parse(text, named: file, into: &configuration)
        }
        return configuration
    }

    /// Takes over the settings in `text`; `name` is the file's in messages.
    package static func parse(
        _ text: [UInt8], named name: String, into configuration: inout Configuration
    ) throws(ConfigurationError) {
        let parser = Parser(text, name, configuration)
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
                parser.set(
                    String(cString: section), String(cString: name), value.map { String(cString: $0) } ?? "")
                return 1
            }, context)
        if result > 0, parser.faults.isEmpty {
            parser.faults.append("\(name):\(result): neither “[section]” nor “name = value”")
        }
        guard parser.faults.isEmpty else { throw ConfigurationError(messages: parser.faults) }
        configuration = parser.configuration
    }

    private static func contents(_ path: String, isOptional: Bool) throws(ConfigurationError) -> [UInt8]? {
        func failed() -> ConfigurationError {
            ConfigurationError(messages: ["the configuration can't be read: \(SystemError("open \(path)").message)"])
        }
        let file = linux_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        guard file >= 0 else {
            if isOptional, errno == ENOENT || errno == ENOTDIR || errno == EACCES { return nil }
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

    /// What happens between two calls of libinih, which does not tell line numbers: they are counted where it takes lines.
    private final class Parser {
        var configuration: Configuration
        var faults: [String] = []
        private let text: [UInt8]
        private let name: String
        private var place = 0
        private var line = 0
        /// Settings of this file; the first line of one replaces what an earlier file said.
        private var seen: Set<String> = []

        init(_ text: [UInt8], _ name: String, _ configuration: Configuration) {
            self.text = text
            self.name = name
            self.configuration = configuration
        }

        func nextLine(into buffer: UnsafeMutablePointer<CChar>, size: Int) -> Bool {
            guard place < text.count else { return false }
            line += 1
            let end = text[place...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            var content = text[place..<end]
            place = end + 1
            if content.last == UInt8(ascii: "\r") { content.removeLast() }
            if content.contains(0) || String(validating: content, as: UTF8.self) == nil {
                fault("the line is not text in UTF-8")
                content = []
            } else if content.count > min(ConfigurationFile.maximumLineBytes, size - 2) {
                fault("the line has more than \(ConfigurationFile.maximumLineBytes) bytes")
                content = []
            }
            checkSection(content)
            for (index, byte) in content.enumerated() { buffer[index] = CChar(bitPattern: byte) }
            buffer[content.count] = CChar(bitPattern: UInt8(ascii: "\n"))
            buffer[content.count + 1] = 0
            return true
        }

        /// libinih says nothing of a section without settings.
        private func checkSection(_ content: ArraySlice<UInt8>) {
            let text = String(decoding: content, as: UTF8.self).drop { $0 == " " || $0 == "\t" }
            guard text.first == "[", let end = text.firstIndex(of: "]") else { return }
            let section = String(text[text.index(after: text.startIndex)..<end])
            let names = Setting.sections.map(\.name)
            guard !names.contains(section) else { return }
            fault("there is no section [\(section)]; there are \(names.map { "[\($0)]" }.joined(separator: ", "))")
        }

        func set(_ section: String, _ name: String, _ value: String) {
            guard let setting = Setting.all.first(where: { $0.section == section && $0.name == name }) else {
                guard section.isEmpty || Setting.sections.contains(where: { $0.name == section }) else { return }
                return unknown(section, name)
            }
            if seen.insert(name).inserted {
                if name == "media-roots" { configuration.mediaRoots = [] }
                if name == "speech-folders" { configuration.speech.folders = [] }
            }
            guard setting.apply(&configuration, value) else {
                return fault("“\(name)” in [\(section)] takes \(setting.takes), not “\(value)”")
            }
        }

        private func unknown(_ section: String, _ name: String) {
            if let other = Setting.all.first(where: { $0.name == name }) {
                return fault("“\(name)” belongs into the section [\(other.section)]")
            }
            let names = Setting.all.filter { section.isEmpty || $0.section == section }.map(\.name)
            let nearest = NearestName.of(name, among: names).map { "; the nearest is “\($0)”" } ?? ""
            fault("there is no setting “\(name)”" + (section.isEmpty ? "" : " in [\(section)]") + nearest)
        }

        private func fault(_ message: String) { faults.append("\(name):\(line): " + PrintableText.escaped(message)) }
    }
}
