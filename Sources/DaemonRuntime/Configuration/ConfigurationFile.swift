package import ConfigurationFiles
import ControlProtocol

/// The daemon's sections of the configuration files.
package enum ConfigurationFile {
    /// The settings of `path`, or of the usual files if it is nil. Files of the usual ones that do not exist are left out.
    package static func load(_ path: String?) throws(ConfigurationError) -> Configuration {
        var configuration = Configuration()
        for file in path.map({ [$0] }) ?? INIFile.usualPaths {
            guard let text = try INIFile.contents(file, isOptional: path == nil) else { continue }
            try parse(text, named: file, into: &configuration)
        }
        return configuration
    }

    /// Takes over the settings in `text`; `name` is the file's in messages.
    package static func parse(
        _ text: [UInt8], named name: String, into configuration: inout Configuration
    ) throws(ConfigurationError) {
        var result = configuration
        // The first line of a setting replaces what an earlier file said.
        var seen: Set<String> = []
        try INIFile.parse(text, named: name, judge: judge) { section, name, value in
            guard let setting = Setting.all.first(where: { $0.section == section && $0.name == name }) else {
                guard section.isEmpty || Setting.sections.contains(where: { $0.name == section }) else { return nil }
                return unknown(section, name)
            }
            if seen.insert(name).inserted {
                if name == "media-roots" { result.mediaRoots = [] }
                if name == "speech-folders" { result.speech.folders = [] }
            }
            return setting.apply(&result, value)
                ? nil : "“\(name)” in [\(section)] takes \(setting.takes), not “\(value)”"
        }
        configuration = result
    }

    private static func judge(_ section: String) -> String? {
        let names = Setting.sections.map(\.name)
        guard !names.contains(section), !INIFile.bridgeSections.contains(section) else { return nil }
        return "there is no section [\(section)]; there are \(names.map { "[\($0)]" }.joined(separator: ", "))"
    }

    private static func unknown(_ section: String, _ name: String) -> String {
        if let other = Setting.all.first(where: { $0.name == name }) {
            return "“\(name)” belongs into the section [\(other.section)]"
        }
        let names = Setting.all.filter { section.isEmpty || $0.section == section }.map(\.name)
        let nearest = NearestName.of(name, among: names).map { "; the nearest is “\($0)”" } ?? ""
        return "there is no setting “\(name)”" + (section.isEmpty ? "" : " in [\(section)]") + nearest
    }
}
