import NowPlaying
import PlaybackEngine

/// Settings about kinds of items.
extension Setting {
    static let kindSettings: [Setting] =
        rules(of: .podcast, MediaTypeRules.podcastGenres, shortest: "1200") { configuration, change in
            change(&configuration.kinds.podcast)
        }
        + rules(of: .audiobook, MediaTypeRules.audiobookGenres, shortest: "7200") { configuration, change in
            change(&configuration.kinds.audiobook)
        }
        + intervals(of: .music, forward: "10", backward: "10")
        + intervals(of: .podcast, forward: "30", backward: "15")
        + intervals(of: .audiobook, forward: "60", backward: "15")

    private typealias Change = (inout MediaTypeRules.Rule) -> Void

    private static func rules(
        of kind: MediaType, _ genres: [String], shortest: String,
        _ edit: @escaping @Sendable (inout Configuration, Change) -> Void
    ) -> [Setting] {
        let name = kind.rawValue
        return [
            Setting(
                section: "kinds", name: "\(name)-genres", takes: "genres, separated by commas",
                defaultText: genres.joined(separator: ", "), sample: genres[0],
                help: "Genres of \(name)s.", isReloadable: true
            ) { configuration, text in
                let genres = text.lowercased().split(separator: ",").map { part in
                    String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
                }
                edit(&configuration) { $0.genres = genres }
                return !genres.isEmpty && genres.allSatisfy { !$0.isEmpty }
            },
            Setting(
                section: "kinds", name: "\(name)-folders", takes: "absolute paths, one per line", defaultText: nil,
                sample: "/srv/\(name)s",
                help: "Folders whose files are \(name)s. Further folders follow on indented lines.",
                isReloadable: true, reset: { edit(&$0) { $0.folders = [] } }
            ) { configuration, text in
                edit(&configuration) { $0.folders.append(text) }
                return isPath(text)
            },
            Setting(
                section: "kinds", name: "\(name)-from", takes: "seconds above 0", defaultText: nil,
                sample: shortest,
                help: "Minimum duration at which items of unknown kind count as \(name)s.",
                isReloadable: true
            ) { configuration, text in
                guard let seconds = Double(text), seconds > 0, seconds.isFinite else { return false }
                edit(&configuration) { $0.shortest = seconds }
                return true
            },
        ]
    }

    private static func intervals(of kind: MediaType, forward: String, backward: String) -> [Setting] {
        [
            intervals("\(kind.rawValue)-forward-intervals", "skipForward", of: kind, sample: forward) {
                $0.kindIntervals[kind, default: CommandCentre.KindIntervals()].forward = $1
            },
            intervals("\(kind.rawValue)-backward-intervals", "skipBackward", of: kind, sample: backward) {
                $0.kindIntervals[kind, default: CommandCentre.KindIntervals()].backward = $1
            },
        ]
    }
}
