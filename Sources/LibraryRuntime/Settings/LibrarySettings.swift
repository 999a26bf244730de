package import ArtworkLookup
package import ConfigurationFiles
import ControlProtocol
import TrackReading

/// Settings of the library: its own section, and the access that it shares with the daemon.
package struct LibrarySettings: Equatable, Sendable {
    /// Folders of the library, absolute paths; empty: the media roots.
    package var folders: [String] = []
    /// Path of the library's socket; nil: beside the daemon's.
    package var socket: String?
    /// Directory of the database and the lists; nil: the default.
    package var stateDirectory: String?
    /// Time of day of the daily scan; nil: none.
    package var scanAt: TimeOfDay?
    /// Seconds between two scans of folders that can't be watched.
    package var scanInterval = 3600.0
    /// Path of the daemon's socket; nil: the default.
    package var daemonSocket: String?
    /// Directory of the daemon's state; nil: the default.
    package var daemonStateDirectory: String?
    /// Folders below which other users may name files.
    package var mediaRoots: [String] = []
    /// False: no loudness is measured.
    package var measuresLoudness = true
    /// True: the daemon prefers measured loudness to that of tags.
    package var prefersMeasured = false
    /// Character set of texts that are not UTF-8, shared with the daemon; nil: Windows-1252.
    package var legacyCharset: String?
    /// Group whose members may change the library's lists and the queue; nil: none.
    package var controlGroup: String?
    /// Group whose members may read; nil: none.
    package var readGroup: String?
    /// Settings for pictures, shared with the daemon.
    package var artwork = ArtworkSearch.Rules()
    /// Limit of the picture cache in MiB.
    package var artworkCacheSize = 128

    /// The defaults.
    package init() {}

    /// The section of the library.
    package static let section = "library"

    /// One setting: its parser and its messages.
    private struct Row: Sendable {
        let section: String
        let name: String
        /// Valid values: a phrase that follows "expected".
        let takes: String
        /// Applies a value; false: it is invalid.
        let apply: @Sendable (inout LibrarySettings, String) -> Bool
        /// For settings with one value a line: removes the values of an earlier file.
        var clear: (@Sendable (inout LibrarySettings) -> Void)?
    }

    private static let rows: [Row] = [
        Row(
            section: section, name: "folders", takes: "absolute paths, one per line",
            apply: {
                $0.folders.append($1)
                return isPath($1)
            }, clear: { $0.folders = [] }),
        Row(section: section, name: "socket", takes: "an absolute path of at most 107 bytes") {
            $0.socket = $1
            return isPath($1) && $1.utf8.count <= 107
        },
        Row(section: section, name: "state-directory", takes: "an absolute path") {
            $0.stateDirectory = $1
            return isPath($1)
        },
        Row(section: section, name: "scan-at", takes: "a time of day such as 04:30") {
            $0.scanAt = TimeOfDay($1)
            return $0.scanAt != nil
        },
        Row(section: section, name: "scan-interval", takes: "seconds from 60 to 604800") { settings, text in
            guard let seconds = Double(text), (60...604_800).contains(seconds) else { return false }
            settings.scanInterval = seconds
            return true
        },
        Row(section: section, name: "measure-loudness", takes: "yes or no") {
            $0.measuresLoudness = $1 == "yes"
            return $1 == "yes" || $1 == "no"
        },
        Row(section: "daemon", name: "socket", takes: "an absolute path of at most 107 bytes") {
            $0.daemonSocket = $1
            return isPath($1) && $1.utf8.count <= 107
        },
        Row(section: "daemon", name: "state-directory", takes: "an absolute path") {
            $0.daemonStateDirectory = $1
            return isPath($1)
        },
        Row(
            section: "access", name: "media-roots", takes: "absolute paths, one per line",
            apply: {
                $0.mediaRoots.append($1)
                return isPath($1)
            }, clear: { $0.mediaRoots = [] }),
        Row(
            section: "media", name: "legacy-charset",
            takes: "a character set that the C library knows, such as shift-jis, gbk or cp1251"
        ) {
            $0.legacyCharset = $1
            return LegacyCharset($1) != nil
        },
        Row(section: "playback", name: "loudness-source", takes: "tags or measured") {
            $0.prefersMeasured = $1 == "measured"
            return $1 == "tags" || $1 == "measured"
        },
        Row(section: "access", name: "control-group", takes: "the name or number of a group") {
            $0.controlGroup = $1
            return !$1.isEmpty
        },
        Row(section: "access", name: "read-group", takes: "the name or number of a group") {
            $0.readGroup = $1
            return !$1.isEmpty
        },
        Row(section: "artwork", name: "names", takes: "file names without ending, separated by commas") {
            guard let names = ArtworkSearch.Rules.names(setting: $1) else { return false }
            $0.artwork.names = names
            return true
        },
        Row(section: "artwork", name: "animated", takes: "on or off") {
            $0.artwork.isAnimated = $1 == "on"
            return $1 == "on" || $1 == "off"
        },
        film(.square, "animated-square"), film(.tall, "animated-tall"),
        Row(section: "artwork", name: "placeholder", takes: "an absolute path") {
            $0.artwork.placeholder = $1
            return isPath($1)
        },
        Row(section: "artwork", name: "cache-size", takes: "MiB, a whole number from 1 to 65536") {
            guard let size = ArtworkSearch.Rules.cacheSize(setting: $1) else { return false }
            $0.artworkCacheSize = size
            return true
        },
    ]

    private static func film(_ shape: AnimatedShape, _ name: String) -> Row {
        Row(section: "artwork", name: name, takes: "a file name without ending") {
            guard let name = ArtworkSearch.Rules.film(setting: $1) else { return false }
            $0.artwork.films[shape] = name
            return true
        }
    }

    private static func isPath(_ text: String) -> Bool {
        text.utf8.first == UInt8(ascii: "/") && !text.utf8.contains(0)
    }

    /// The settings of `path`, or of the default files if it is nil. `unreadable` gets the paths of files that this
    /// user may not read.
    package static func load(
        _ path: String?, unreadable: inout [String]
    ) throws(ConfigurationError) -> LibrarySettings {
        var settings = LibrarySettings()
        for file in path.map({ [$0] }) ?? INIFile.usualPaths {
            guard let text = try INIFile.contents(file, isOptional: path == nil, unreadable: &unreadable) else {
                continue
            }
            settings = try settings.applying(text, named: file)
        }
        return settings
    }

    /// These settings with those in `text`; `name`: the file in messages. Sections of other programs are skipped.
    package func applying(_ text: [UInt8], named name: String) throws(ConfigurationError) -> LibrarySettings {
        var result = self
        var seen: Set<String> = []
        try INIFile.parse(text, named: name, judge: { _ in nil }) { section, name, value in
            guard let row = Self.rows.first(where: { $0.section == section && $0.name == name }) else {
                return section == Self.section ? Self.unknown(name) : nil
            }
            if seen.insert(section + "." + name).inserted { row.clear?(&result) }
            return row.apply(&result, value)
                ? nil : "invalid value “\(value)” for “\(name)” in [\(section)] (expected \(row.takes))"
        }
        return result
    }

    private static func unknown(_ name: String) -> String {
        let nearest = NearestName.suggestion(for: name, among: rows.filter { $0.section == section }.map(\.name))
        return "unknown setting “\(name)” in [\(section)]" + (nearest.map { "; did you mean “\($0)”?" } ?? "")
    }
}
