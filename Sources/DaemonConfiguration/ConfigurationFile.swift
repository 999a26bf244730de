package import ConfigurationFiles
import ControlProtocol
import LinuxSystem

/// The daemon's sections of the configuration files.
package enum ConfigurationFile {
    /// The settings of files, and their texts there.
    package struct Contents: Sendable {
        package var configuration = Configuration()
        /// The texts of each named setting, by `Setting.id`, from the file with the highest precedence.
        package var written: [String: [String]] = [:]
        /// Paths of existing files that this user may not read.
        package var unreadable: [String] = []

        /// No settings.
        package init() {}

        /// The settings whose texts differ in `other`, in the order of the manual.
        package func changes(to other: Contents) -> [Setting] {
            Setting.all.filter { written[$0.id] != other.written[$0.id] }
        }
    }

    /// The settings of `path`, or of the usual files if it is nil. Skips usual files that do not exist.
    package static func load(_ path: String?) throws(ConfigurationError) -> Configuration {
        try read(path).configuration
    }

    /// Logs a warning for each file that was skipped because this user may not read it.
    package static func warn(of contents: Contents) {
        for path in contents.unreadable {
            Log.warning(
                "ignored \(path): permission denied; make it readable, or remove it")
        }
    }

    /// Reads the settings with their texts, as `load` does. Reads files.
    package static func read(_ path: String?) throws(ConfigurationError) -> Contents {
        var contents = Contents()
        for file in path.map({ [$0] }) ?? INIFile.usualPaths {
            guard
                let text = try INIFile.contents(file, isOptional: path == nil, unreadable: &contents.unreadable)
            else { continue }
            try parse(text, named: file, into: &contents)
        }
        return contents
    }

    /// Adds the settings in `text`; `name` is the file's name in messages.
    package static func parse(
        _ text: [UInt8], named name: String, into contents: inout Contents
    ) throws(ConfigurationError) {
        var result = contents.configuration
        var written = contents.written
        // The first line of a setting replaces the values from earlier files.
        var seen: Set<String> = []
        try INIFile.parse(text, named: name, judge: judge) { section, name, value in
            guard let setting = Setting.all.first(where: { $0.section == section && $0.name == name }) else {
                guard section.isEmpty || Setting.sections.contains(where: { $0.name == section }) else { return nil }
                return unknown(section, name)
            }
            if seen.insert(setting.id).inserted {
                written[setting.id] = []
                setting.reset?(&result)
            }
            written[setting.id, default: []].append(value)
            return setting.apply(&result, value)
                ? nil : "invalid value “\(value)” for “\(name)” in [\(section)] (expected \(setting.takes))"
        }
        contents.configuration = result
        contents.written = written
    }

    private static func judge(_ section: String) -> String? {
        let names = Setting.sections.map(\.name)
        guard !names.contains(section), !INIFile.bridgeSections.contains(section) else { return nil }
        return "unknown section [\(section)]; sections are \(names.map { "[\($0)]" }.joined(separator: ", "))"
    }

    private static func unknown(_ section: String, _ name: String) -> String {
        if let other = Setting.all.first(where: { $0.name == name }) {
            return "“\(name)” belongs in the section [\(other.section)]"
        }
        let names = Setting.all.filter { section.isEmpty || $0.section == section }.map(\.name)
        let nearest = NearestName.suggestion(for: name, among: names).map { "; did you mean “\($0)”?" } ?? ""
        return "unknown setting “\(name)”" + (section.isEmpty ? "" : " in [\(section)]") + nearest
    }
}
