package import ConfigurationFiles
import ControlProtocol

/// Settings of a bridge from its section of the configuration files.
package protocol BridgeSettings: Sendable {
    /// The defaults.
    init()
    /// The name of the section.
    static var section: String { get }
    /// All settings, in the order of the manual.
    static var all: [BridgeSetting<Self>] { get }
    /// Settings of other sections that the bridge uses too, by section. The bridge judges no other lines of these sections.
    static var borrowed: [String: [BridgeSetting<Self>]] { get }
    /// Contradiction between settings, as text; nil: there is none.
    var contradiction: String? { get }
}

extension BridgeSettings {
    package static var borrowed: [String: [BridgeSetting<Self>]] { [:] }
}

/// One line of a bridge's section.
package struct BridgeSetting<Settings: BridgeSettings>: Sendable {
    package let name: String
    /// Valid values: a phrase that follows "expected".
    package let takes: String
    /// Applies a value; false: the value is invalid. Called once for each line that names the setting.
    package let apply: @Sendable (inout Settings, String) -> Bool
    /// Discards the values of an earlier file, before the first line of a later file.
    package let clear: (@Sendable (inout Settings) -> Void)?

    /// A setting, by its parts.
    package init(
        _ name: String, takes: String, clear: (@Sendable (inout Settings) -> Void)? = nil,
        apply: @escaping @Sendable (inout Settings, String) -> Bool
    ) {
        self.name = name
        self.takes = takes
        self.apply = apply
        self.clear = clear
    }

    /// A setting that is on or off.
    package static func flag(_ name: String, _ path: any WritableKeyPath<Settings, Bool> & Sendable) -> BridgeSetting {
        BridgeSetting(name, takes: "yes or no") { settings, text in
            settings[keyPath: path] = text == "yes"
            return text == "yes" || text == "no"
        }
    }
}

extension BridgeSettings {
    /// The settings of `path`, or of the default files if it is nil. `unreadable` gets the paths of the files that this user
    /// may not read.
    package static func load(_ path: String?, unreadable: inout [String]) throws(ConfigurationError) -> Self {
        var settings = Self()
        for file in path.map({ [$0] }) ?? INIFile.usualPaths {
            guard let text = try INIFile.contents(file, isOptional: path == nil, unreadable: &unreadable) else {
                continue
            }
            try settings.take(text, named: file)
        }
        if let contradiction = settings.contradiction {
            throw ConfigurationError(messages: ["[\(section)]: \(contradiction)"])
        }
        return settings
    }

    /// Applies the settings in `text`; `name` is the name of the file in messages. Sections of other programs are ignored.
    package mutating func take(_ text: [UInt8], named name: String) throws(ConfigurationError) {
        var result = self
        var seen: Set<String> = []
        func fault(_ setting: BridgeSetting<Self>, _ value: String, _ section: String) -> String {
            "invalid value “\(value)” for “\(setting.name)” in [\(section)] (expected \(setting.takes))"
        }
        try INIFile.parse(text, named: name, judge: { _ in nil }) { section, name, value in
            guard section == Self.section else {
                guard let setting = Self.borrowed[section]?.first(where: { $0.name == name }) else { return nil }
                return setting.apply(&result, value) ? nil : fault(setting, value, section)
            }
            guard let setting = Self.all.first(where: { $0.name == name }) else {
                let nearest = NearestName.suggestion(for: name, among: Self.all.map(\.name))
                return "unknown setting “\(name)” in [\(section)]" + (nearest.map { "; did you mean “\($0)”?" } ?? "")
            }
            if seen.insert(name).inserted { setting.clear?(&result) }
            return setting.apply(&result, value) ? nil : fault(setting, value, section)
        }
        self = result
    }
}
